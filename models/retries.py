"""When a failed call is tried again: the one retry layer (the SDK's and litellm's are off).

The waits double, with jitter and a cap; Retry-After is honoured; in all, the waits stay under a deadline.
"""

import random
from dataclasses import dataclass

from models.failures import RETRIED, CallFailed


@dataclass(frozen=True)
class Retries:
    """How often, and how long in between.

    attempts:      in all, the first included.
    cap_s:         the longest wait of ours; a Retry-After may be longer, up to the deadline.
    deadline_s:    of all waits of one call together.
    """

    attempts: int = 6
    first_s: float = 1.0
    cap_s: float = 60.0
    deadline_s: float = 300.0

    def wait_s(self, failure: CallFailed, attempt: int, waited_s: float) -> float | None:
        """Return how long to wait after the attempt of this number; None: it is not tried again."""
        if not RETRIED[failure.kind] or attempt >= self.attempts:
            return None
        wait_s = min(self.cap_s, self.first_s * 2 ** (attempt - 1)) * random.uniform(0.5, 1.0)  # noqa: S311
        if (
            failure.retry_after_s is not None
        ):  # never earlier; jitter spreads those who were told the same
            wait_s = failure.retry_after_s + wait_s / 2
        return wait_s if waited_s + wait_s <= self.deadline_s else None
