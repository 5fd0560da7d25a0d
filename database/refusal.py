"""A refusal: the rule that a statement broke, and the place in it."""

from dataclasses import dataclass

SHOWN = 120  # characters of a place


@dataclass(frozen=True)
class Refusal:
    """The rule that a statement broke, and the place in it."""

    rule: str
    place: str

    def __str__(self) -> str:
        return f"{self.rule}: {self.place}"


class Refused(Exception):
    """Raised where a tree breaks a rule, caught where the gate answers."""

    def __init__(self, rule: str, place: object) -> None:
        self.refusal = Refusal(rule, " ".join(str(place).split())[:SHOWN])
        super().__init__(str(self.refusal))
