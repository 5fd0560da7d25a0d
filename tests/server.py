"""A loopback OpenAI-compatible server that says what a script says, and fails the way servers fail.

    async with Server(["SELECT 1", Status(429, retry_after="2"), Fault("reset")]) as server:
        ...                                       # ask server.api_base
    assert server.bodies[0]["temperature"] == 0

A script is a list of replies (the last one is repeated) or a function of the request's body. A reply
is a text, a whole JSON reply as a dict, a Status or a Fault. `python -m tests.server --latency 0.02`
runs one by itself and prints its address, for benchmarks.
"""

import argparse
import asyncio
import json
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Literal


@dataclass(frozen=True)
class Status:
    """An HTTP error, with what a provider says beside it. `{authorization}` is the request's header."""

    code: int
    message: str = "told to fail"
    retry_after: str | None = None
    type: str = "error"


@dataclass(frozen=True)
class Fault:
    """A server that misbehaves.

    hang: no reply, ever · reset: the connection is reset in the middle · trickle: a byte a moment, for
    long · malformed: half a JSON · type: an HTML page with status 200 · truncated: fewer bytes than
    announced · empty: no choices
    """

    kind: Literal["hang", "reset", "trickle", "malformed", "type", "truncated", "empty"]


Reply = str | dict[str, Any] | Status | Fault


@dataclass
class Server:
    """The server; what it was asked stands in `bodies` and `headers`, in the order of arrival."""

    script: Sequence[Reply] | Callable[[dict[str, Any]], Reply]
    latency_s: float = 0.0
    keep: bool = True
    bodies: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    served: int = 0
    at_once: int = 0
    most_at_once: int = 0
    api_base: str = ""

    async def __aenter__(self) -> "Server":
        self._connections: set[asyncio.Task[None]] = set()
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, backlog=1024)
        port = self._server.sockets[0].getsockname()[1]
        self.api_base = f"http://127.0.0.1:{port}/v1"
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for task in self._connections:
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task
        self._connections.add(task)
        try:
            while await self._one(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            self._connections.discard(task)
            writer.close()

    async def _one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        headers = {k.lower(): v for k, _, v in (line.partition(": ") for line in head[1:]) if k}
        raw = await reader.readexactly(int(headers.get("content-length", 0)))
        method, path, _ = head[0].split(" ")
        if not path.split("?")[0].endswith(("/completions", "/messages", ":generateContent")):
            writer.write(self.other(method, path.split("?")[0], raw))
            await writer.drain()
            return True
        body = json.loads(raw) if raw else {}
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            if self.keep:
                self.bodies.append(body)
                self.headers.append(headers)
            reply = self._reply(body)
            self.served += 1
            if self.latency_s:
                await asyncio.sleep(self.latency_s)
            return await self._answer(writer, reply, headers)
        finally:
            self.at_once -= 1

    def other(self, method: str, path: str, raw: bytes) -> bytes:
        """Return the HTTP reply to a call that is no chat; batch_server.py knows some."""
        return http(404, json.dumps({"error": {"message": f"no {method} {path}"}}))

    def _reply(self, body: dict[str, Any]) -> Reply:
        if callable(self.script):
            return self.script(body)
        return self.script[min(self.served, len(self.script) - 1)]

    async def _answer(
        self, writer: asyncio.StreamWriter, reply: Reply, headers: dict[str, str]
    ) -> bool:
        if isinstance(reply, Fault):
            return await self._misbehave(writer, reply)
        if isinstance(reply, Status):
            said = reply.message.replace("{authorization}", headers.get("authorization", ""))
            error = {"error": {"message": said, "type": reply.type, "code": reply.code}}
            extra = f"Retry-After: {reply.retry_after}\r\n" if reply.retry_after else ""
            writer.write(http(reply.code, json.dumps(error), extra=extra))
        else:
            whole = reply if isinstance(reply, dict) else completion(reply)
            writer.write(http(200, json.dumps(whole)))
        await writer.drain()
        return True

    async def _misbehave(self, writer: asyncio.StreamWriter, fault: Fault) -> bool:
        whole = json.dumps(completion("SELECT 1"))
        if fault.kind == "hang":
            await asyncio.sleep(3600)
        elif fault.kind == "reset":
            writer.write(http(200, whole)[:60])
            await writer.drain()
            writer.transport.abort()
        elif fault.kind == "trickle":
            sent = http(200, whole)
            writer.write(sent[:-200])
            for byte in sent[-200:]:
                writer.write(bytes([byte]))
                await writer.drain()
                await asyncio.sleep(0.05)
        elif fault.kind == "malformed":
            writer.write(http(200, whole[: len(whole) // 2]))
        elif fault.kind == "type":
            writer.write(http(200, "<html>busy</html>", content="text/html"))
        elif fault.kind == "truncated":
            writer.write(http(200, whole)[:-20])
        elif fault.kind == "empty":
            writer.write(http(200, json.dumps(completion("") | {"choices": []})))
        await writer.drain()
        return fault.kind in ("malformed", "type", "empty", "trickle")


def completion(text: str, **changes: Any) -> dict[str, Any]:
    """A chat completion as a well-behaved server sends it; `finish_reason`, `message`, `usage` change it."""
    message = {"role": "assistant", "content": text} | changes.get("message", {})
    choice = {"index": 0, "message": message, "finish_reason": changes.get("finish_reason", "stop")}
    if "logprobs" in changes:
        choice["logprobs"] = changes["logprobs"]
    reply: dict[str, Any] = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "scripted",
        "choices": [choice],
    }
    usage = changes.get("usage", {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15})
    return reply | ({"usage": usage} if usage is not None else {})


@contextmanager
def in_background(server: Server) -> Iterator[Server]:
    """Run a server on a loop of its own in a thread: for clients that block, or are killed."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    try:
        asyncio.run_coroutine_threadsafe(server.__aenter__(), loop).result(10)
        yield server
        asyncio.run_coroutine_threadsafe(server.__aexit__(), loop).result(10)
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)
        loop.close()


def http(status: int, body: str, *, extra: str = "", content: str = "application/json") -> bytes:
    data = body.encode()
    head = f"HTTP/1.1 {status} X\r\nContent-Type: {content}\r\nContent-Length: {len(data)}\r\n{extra}\r\n"
    return head.encode() + data


async def _alone(latency_s: float, text: str) -> None:
    async with Server(lambda _: text, latency_s=latency_s, keep=False) as server:
        print(server.api_base, flush=True)
        await asyncio.Event().wait()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--latency", type=float, default=0.0, help="seconds a reply takes")
    parser.add_argument("--text", default="SELECT 1", help="what every reply says")
    options = parser.parse_args()
    with suppress(KeyboardInterrupt):
        asyncio.run(_alone(options.latency, options.text))
