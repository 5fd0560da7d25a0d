"""A provider's batch interface (OpenAI's, which others speak too): a file up, a batch made, replies down.

litellm translates each request, as for a single call; the few calls around it need no translation.
"""

import asyncio
import json
from dataclasses import dataclass
from typing import Any

import aiohttp

from models.bulk import Session
from models.call import ModelError, Request
from models.failures import scrub
from models.roster import Route
from models.translate import Translator, Untranslatable

_LABEL = "benchtoward"  # the metadata key that carries our own name of a batch
_CHAT = "/v1/chat/completions"


@dataclass(frozen=True)
class State:
    """How a batch stands at the provider; `files` hold its replies once it is done."""

    status: str
    files: tuple[str, ...] = ()
    message: str = ""

    @property
    def ended(self) -> bool:
        """Tell whether nothing more will come."""
        return self.status in ("completed", "failed", "expired", "cancelled")


class BatchLane:
    """One route's batches. Raises: ModelError (no batches there, or the provider refuses)."""

    def __init__(self, route: Route, session: Session) -> None:
        if not route.batch:
            raise ModelError(
                f"the route {route.name!r} takes no batches (registry/models.yaml: batch)"
            )
        try:
            self.translator = Translator(route)
        except Untranslatable as error:
            raise ModelError(f"the route {route.name!r} takes no batches here: {error}") from None
        self.route, self._session = route, session

    async def send(self, name: str, requests: list[Request]) -> str:
        """Send requests as one batch; returns the provider's id of it."""
        lines = "".join(self._line(request) + "\n" for request in requests)
        form = aiohttp.FormData({"purpose": "batch"})
        form.add_field("file", lines.encode(), filename=f"{name}.jsonl")
        file = await self._json("POST", "files", data=form)
        batch = await self._json(
            "POST",
            "batches",
            json={
                "input_file_id": file["id"],
                "endpoint": _CHAT,
                "completion_window": "24h",
                "metadata": {_LABEL: name},
            },
        )
        return str(batch["id"])

    async def find(self, name: str) -> str | None:
        """Return the provider's id of a batch that was sent under our name, if it arrived."""
        listed = await self._json("GET", "batches?limit=100")
        for batch in listed.get("data") or []:
            if (batch.get("metadata") or {}).get(_LABEL) == name:
                return str(batch["id"])
        return None

    async def state(self, provider_id: str) -> State:
        """Return how a batch stands."""
        batch = await self._json("GET", f"batches/{provider_id}")
        files = (batch.get("output_file_id"), batch.get("error_file_id"))
        errors = batch.get("errors")
        said = scrub(json.dumps(errors)) if errors else ""
        return State(str(batch["status"]), tuple(file for file in files if file), said)

    async def replies(self, file: str) -> list[dict[str, Any]]:
        """Return the lines of a file of replies."""
        raw = await self._read("GET", f"files/{file}/content")
        return [json.loads(line) for line in raw.splitlines() if line.strip()]

    def _line(self, request: Request) -> str:
        body = json.loads(self.translator.call(request).body)
        told = {"custom_id": request.key, "method": "POST", "url": _CHAT, "body": body}
        return json.dumps(told, ensure_ascii=False)

    async def _json(self, method: str, path: str, **sent: Any) -> dict[str, Any]:
        raw = await self._read(method, path, **sent)
        try:
            return dict(json.loads(raw))
        except ValueError:
            raise ModelError(f"batches at {self.route.name!r}: {path} is no JSON") from None

    async def _read(self, method: str, path: str, **sent: Any) -> bytes:
        url, key = self.translator.place(path)
        try:
            async with (
                asyncio.timeout(self.route.timeout_s),
                self._session.get().request(method, url, headers=key, **sent) as reply,
            ):
                raw = await reply.read()
        except (TimeoutError, aiohttp.ClientError, ConnectionError) as error:
            said = scrub(f"{type(error).__name__}: {error}")
        else:
            if reply.status < 400:
                return raw
            said = f"{reply.status} {scrub(raw.decode(errors='replace'))}"
        raise ModelError(f"batches at the route {self.route.name!r}: {said}")
