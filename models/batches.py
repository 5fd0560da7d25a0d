"""Calls sent as a provider's batch, at its lower price, and fetched later into the same ledger rows.

A batch is in the ledger before it is sent, under a name of ours that goes along as metadata: one that
was sent by a run killed at that moment is found again at the provider instead of being paid twice. A
call that waits in a batch is not made by itself.
"""

import json
import sqlite3
import time
import uuid
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from itertools import islice
from typing import TYPE_CHECKING, Any

from models.batch_lane import BatchLane, State
from models.call import ModelError, Request
from models.failures import CallFailed, kind_of, scrub
from models.ledger import Claim
from models.prices import cost_usd, worst_usd
from models.roster import Route

if TYPE_CHECKING:
    from models.gateway import Gateway

MOST = 10_000  # calls of one batch; providers take up to 50,000 or 100 MB


@dataclass(frozen=True)
class Batch:
    """A batch as the ledger knows it. status: sending, sent, or the provider's last word."""

    id: int
    name: str
    provider_id: str | None
    model: str
    route: str
    status: str
    calls: int
    answered: int
    sent_at: float
    message: str

    @property
    def open(self) -> bool:
        """Tell whether answers may still come."""
        return not State(self.status).ended


async def send(gateway: "Gateway", requests: Iterable[Request]) -> list[Batch]:
    """Send what is neither answered nor under way as batches, one or more a route.

    Raises: ModelError (a route takes no batches, the provider refuses), BudgetError.
    """
    groups: dict[tuple[str, str], list[Request]] = defaultdict(list)
    for request in requests:
        groups[request.model, request.route].append(request)
    lanes = {group: BatchLane(_route(gateway, *group), gateway.session) for group in groups}
    sent = []
    for group, asked in groups.items():
        todo = iter([r for r in asked if not under_way(gateway.ledger.db, r.key)])
        while part := list(islice(todo, MOST)):
            sent.append(await _send(gateway, lanes[group], part))
    return [batch for batch in batches(gateway.ledger.db) if batch.id in sent]


async def fetch(gateway: "Gateway") -> list[Batch]:
    """Ask after every open batch and keep the answers that came; returns all batches.

    Raises: ModelError when a provider cannot be reached.
    """
    for batch in batches(gateway.ledger.db):
        if batch.open:
            await _fetch(
                gateway,
                BatchLane(_route(gateway, batch.model, batch.route), gateway.session),
                batch,
            )
    return batches(gateway.ledger.db)


def batches(db: sqlite3.Connection) -> list[Batch]:
    """Return every batch of a ledger, oldest first."""
    rows = db.execute(
        "SELECT b.id, name, provider_id, model, b.route, status, count(c.call), count(a.call), sent_at, "
        "message FROM batches b LEFT JOIN batch_calls c ON c.batch = b.id "
        "LEFT JOIN answers a ON a.call = c.call GROUP BY b.id ORDER BY b.id"
    )
    return [Batch(*row) for row in rows]


def under_way(db: sqlite3.Connection, key: str) -> str | None:
    """Return why a call need not be sent: `answered`, or the name of the open batch that holds it."""
    row = db.execute(
        "SELECT a.call, (SELECT b.name FROM batch_calls c JOIN batches b ON b.id = c.batch "
        "WHERE c.call = calls.id AND b.ended_at IS NULL) "
        "FROM calls LEFT JOIN answers a ON a.call = calls.id WHERE key = ?",
        (key,),
    ).fetchone()
    if row is None:
        return None
    return "answered" if row[0] is not None else row[1]


async def _send(gateway: "Gateway", lane: BatchLane, requests: Sequence[Request]) -> int:
    price = lane.route.price(date.today())
    for request in requests:
        worst = worst_usd(price, request)
        half = None if worst is None or price is None else worst * price.batch
        async with gateway.budget.reserve(request.role, half) as receipt:
            receipt.settle(None)  # it is paid when it is fetched, maybe by another command
    name = uuid.uuid4().hex
    row = await gateway.ledger.change(lambda db: _begin(gateway, db, name, lane.route, requests))
    try:
        provider_id = await lane.send(name, list(requests))
    except ModelError as error:
        said = str(error)
        await gateway.ledger.change(lambda db: _settle(db, row, "failed", said))
        raise
    await gateway.ledger.change(lambda db: _arrived(db, row, provider_id))
    return row


async def _fetch(gateway: "Gateway", lane: BatchLane, batch: Batch) -> None:
    provider_id = batch.provider_id or await lane.find(batch.name)
    if provider_id is None:
        lost = "it never arrived: the run that sent it was stopped before"
        await gateway.ledger.change(lambda db: _settle(db, batch.id, "failed", lost))
        return
    state = await lane.state(provider_id)
    for file in state.files if state.ended else ():
        for line in await lane.replies(file):
            await _take_in(gateway, lane, line)
    await gateway.ledger.change(
        lambda db: (
            _settle(db, batch.id, state.status, state.message)
            if state.ended
            else _arrived(db, batch.id, provider_id, state.status)
        )
    )


async def _take_in(gateway: "Gateway", lane: BatchLane, line: dict[str, Any]) -> None:
    """Keep one reply of a batch: an answer, or a failed attempt."""
    request = gateway.ledger.request(str(line.get("custom_id")))
    if request is None:
        return  # not ours
    claim = await gateway.ledger.claim(request)
    if not isinstance(claim, Claim):
        return  # kept before
    response = line.get("response") or {}
    status, body = response.get("status_code"), response.get("body") or line.get("error") or {}
    try:
        if status != 200:
            text = json.dumps(body)
            raise CallFailed(kind_of(status or 400, text), scrub(text), status=status)
        answer = lane.translator.answer(json.dumps(body).encode(), request)
    except CallFailed as failure:
        await gateway.ledger.failed(claim, failure.kind, failure.status, str(failure), None)
        return
    cost = cost_usd(lane.route.price(date.today()), answer, batch=True)
    await gateway.ledger.keep(claim, replace(answer, cost_usd=cost))


def _route(gateway: "Gateway", model: str, route: str) -> Route:
    gateway.require(model)
    return next(found for found in gateway.cards[model].routes if found.name == route)


def _begin(
    gateway: "Gateway",
    db: sqlite3.Connection,
    name: str,
    route: Route,
    requests: Sequence[Request],
) -> int:
    row = db.execute(
        "INSERT INTO batches (name, model, route, status, sent_at, message) "
        "VALUES (?, ?, ?, 'sending', ?, '')",
        (name, requests[0].model, route.name, time.time()),
    ).lastrowid
    assert row is not None
    for request in requests:
        call = gateway.ledger.described(db, request)
        db.execute("INSERT INTO batch_calls VALUES (?, ?)", (call, row))
    return row


def _arrived(db: sqlite3.Connection, row: int, provider_id: str, status: str = "sent") -> None:
    db.execute(
        "UPDATE batches SET provider_id = ?, status = ? WHERE id = ?", (provider_id, status, row)
    )


def _settle(db: sqlite3.Connection, row: int, status: str, message: str) -> None:
    db.execute(
        "UPDATE batches SET status = ?, message = ?, ended_at = ? WHERE id = ?",
        (status, message, time.time(), row),
    )
