"""A set of words written as a paragraph: long lists stay readable and short."""


def words(text: str) -> frozenset[str]:
    """Return the words of a text, separated by white space."""
    return frozenset(text.split())
