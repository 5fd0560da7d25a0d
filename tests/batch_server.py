"""The scripted server with a provider's batch interface: files, batches, and their replies."""

import json
import re
from dataclasses import dataclass, field
from typing import Any

from tests.server import Server, completion, http


@dataclass
class BatchServer(Server):
    """Batches are answered by the script, a line each, once `done` is set.

    `files` holds what was uploaded; `made` the batches by id.
    """

    done: bool = False
    files: dict[str, str] = field(default_factory=dict)
    made: dict[str, dict[str, Any]] = field(default_factory=dict)
    refuse: bool = False

    def other(self, method: str, path: str, raw: bytes) -> bytes:
        """Answer the calls of a batch client."""
        if path.endswith("/files") and method == "POST":
            return http(200, json.dumps(self._file(_uploaded(raw))))
        if found := re.search(r"/files/([^/]+)/content$", path):
            return http(200, self.files[found[1]], content="application/octet-stream")
        if path.endswith("/batches") and method == "POST":
            return self._make(json.loads(raw))
        if path.endswith("/batches"):
            return http(200, json.dumps({"object": "list", "data": list(self.made.values())}))
        return http(200, json.dumps(self._state(path.rsplit("/", 1)[1])))

    def _file(self, text: str) -> dict[str, Any]:
        id = f"file-{len(self.files)}"
        self.files[id] = text
        told = {"id": id, "object": "file", "bytes": len(text), "created_at": 1, "purpose": "batch"}
        return told | {"filename": "x.jsonl", "status": "processed"}

    def _make(self, asked: dict[str, Any]) -> bytes:
        if self.refuse:
            return http(400, json.dumps({"error": {"message": "no batches for you"}}))
        id = f"batch-{len(self.made)}"
        self.made[id] = {
            "id": id,
            "object": "batch",
            "endpoint": asked["endpoint"],
            "input_file_id": asked["input_file_id"],
            "completion_window": "24h",
            "status": "in_progress",
            "created_at": 1,
            "metadata": asked["metadata"],
        }
        return http(200, json.dumps(self.made[id]))

    def _state(self, id: str) -> dict[str, Any]:
        batch = self.made[id]
        if self.done and batch["status"] == "in_progress":
            lines = self.files[batch["input_file_id"]].splitlines()
            replies = "".join(json.dumps(self._line(json.loads(line))) + "\n" for line in lines)
            batch |= {"status": "completed", "output_file_id": self._file(replies)["id"]}
        return batch

    def _line(self, asked: dict[str, Any]) -> dict[str, Any]:
        self.bodies.append(asked["body"])
        reply = self._reply(asked["body"])
        self.served += 1
        good = isinstance(reply, str | dict)
        body = reply if isinstance(reply, dict) else completion(str(reply))
        response = {
            "status_code": 200 if good else 500,
            "body": body if good else {"error": "broke"},
        }
        return {"id": "r", "custom_id": asked["custom_id"], "response": response, "error": None}


def _uploaded(raw: bytes) -> str:
    """The file in a multipart upload: the part that begins with a JSON object."""
    parts = raw.decode().split("\r\n\r\n")
    (text,) = (part for part in parts if part.startswith("{"))
    return text.split("\r\n--")[0]
