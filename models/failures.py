"""Calls that gave no answer: what kind of failure it was, and which kinds are tried again.

What a provider says may hold a key (an error that echoes the request's header) or a prompt: texts are
scrubbed and cut before they are kept anywhere.
"""

import re
from collections.abc import Mapping
from typing import Literal

from models.call import ModelError
from models.keys import struck_out

Kind = Literal[
    "time_out",
    "connection",
    "rate_limit",
    "overloaded",
    "server",
    "malformed",
    "quota",
    "bad_request",
    "context_length",
    "authentication",
    "permission",
    "not_found",
]

# Which kinds are tried again. A wrong request or key stays wrong; an empty account stays empty.
RETRIED: dict[Kind, bool] = {
    "time_out": True,
    "connection": True,
    "rate_limit": True,
    "overloaded": True,
    "server": True,
    "malformed": True,
    "quota": False,
    "bad_request": False,
    "context_length": False,
    "authentication": False,
    "permission": False,
    "not_found": False,
}

# Kinds that say nothing of this request: no other request on the route will fare better.
OF_THE_ROUTE: frozenset[Kind] = frozenset({"quota", "authentication", "permission", "not_found"})

_BY_STATUS: dict[int, Kind] = {
    401: "authentication",
    402: "quota",
    403: "permission",
    404: "not_found",
    408: "time_out",
    409: "overloaded",
    425: "overloaded",
    429: "rate_limit",
    503: "overloaded",
    504: "time_out",
    529: "overloaded",
}
_QUOTA = re.compile(r"insufficient_quota|exceeded your current quota|credit balance|billing", re.I)
_CONTEXT = re.compile(
    r"context.{0,20}(length|window|size)|maximum.{0,20}tokens|too many tokens|prompt is too long",
    re.I,
)
_POLICY = re.compile(r"content_policy|content management policy|content_filter", re.I)
_KEYS = re.compile(  # the usual shapes; the keys that are in the environment are known exactly
    r"(?i)(bearer\s+|api[-_]?key[\"']?\s*[:=]\s*[\"']?)[^\s\"',;&}]{6,}"
    r"|\b(sk|pk|rk|gsk|tgp|xai|hf|key)[-_][A-Za-z0-9_\-]{8,}|\bAIza[A-Za-z0-9_\-]{10,}"
)
_LONGEST = 400  # characters of a provider's message that are kept


class CallFailed(ModelError):
    """One attempt at a call failed.

    status:        the HTTP status, where there was one.
    retry_after_s: how long the route asked to wait.
    unsent:        nobody was there to take the request.
    """

    def __init__(
        self,
        kind: Kind,
        message: str,
        *,
        status: int | None = None,
        retry_after_s: float | None = None,
        unsent: bool = False,
    ) -> None:
        super().__init__(message)
        self.kind, self.status, self.retry_after_s = kind, status, retry_after_s
        self.unsent = unsent

    @property
    def may_be_billed(self) -> bool:
        """Tell whether the provider may have written a reply that did not arrive."""
        return self.kind in ("time_out", "malformed", "connection") and not self.unsent


def kind_of(status: int | None, text: str) -> Kind:
    """Return the kind of a failure by its HTTP status and the provider's text."""
    if status in (400, 413, 422):
        return "context_length" if _CONTEXT.search(text) else "bad_request"
    if status in (402, 403, 429) and _QUOTA.search(text):
        return "quota"
    if status in _BY_STATUS:
        return _BY_STATUS[status]
    if status is None:
        return "connection"
    return "server" if status >= 500 else "bad_request"


def is_policy(status: int | None, text: str) -> bool:
    """Tell whether a provider's content policy refused: that is an answer, not a failure."""
    return status == 400 and _POLICY.search(text) is not None


def retry_after(headers: Mapping[str, str] | None) -> float | None:
    """Return the seconds of a Retry-After header (`retry-after-ms` where it is finer), or None."""
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        try:
            return max(0.0, float((headers or {})[name]) / unit)
        except (KeyError, ValueError):
            continue
    return None


def scrub(text: str) -> str:
    """Return a text without keys and tracebacks, on one line, not longer than what is kept."""
    text, _, _ = text.partition("Traceback (most recent call last)")
    text = _KEYS.sub(lambda found: (found[1] or "") + "[key]", struck_out(text))
    return " ".join(text.split())[:_LONGEST]
