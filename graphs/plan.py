"""The plan of a tier: which place wants which category, difficulty and scope, and which seat writes it.

Quotas come out even by turning wheels of different lengths, so that no author has a category, a
difficulty or a scope of its own. Place n is the same however many places there are.
"""

from agents.seats import AuthorSlot
from items.questions import CATEGORIES, Tier

DIFFICULTIES: dict[Tier, tuple[str, ...]] = {
    "hard": ("medium", "hard", "hard"),
    "easy": ("easy", "easy", "medium"),
}
SCOPES = ("group", "patient", "none", "group")


def plan(tier: Tier, count: int, authors: int) -> dict[str, AuthorSlot]:
    """Return the places of a tier by the id that each item will have."""
    slots = [_slot(tier, number, count, authors) for number in range(count)]
    return {slot.id: slot for slot in slots}


def _slot(tier: Tier, number: int, count: int, authors: int) -> AuthorSlot:
    categories, difficulties = CATEGORIES[tier], DIFFICULTIES[tier]
    lap, place = divmod(number, len(categories))
    return AuthorSlot(
        id=f"{tier}-{number + 1:03d}",
        number=number,
        count=count,
        category=categories[place],
        difficulty=difficulties[(place + lap // authors) % len(difficulties)],
        scope=SCOPES[(place + lap) % len(SCOPES)],
        seat=1 + (place + lap) % authors,
    )
