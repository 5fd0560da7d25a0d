"""`benchtoward batches`: how the batches stand that were sent to providers, and what came of them."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from cli.options import REGISTRY, RUNS, JsonOption, RegistryOption, RunsOption

if TYPE_CHECKING:
    from models.batches import Batch


def batches(
    registry: RegistryOption = REGISTRY, runs: RunsOption = RUNS, json: JsonOption = False
) -> None:
    """Ask after the batches that are open and keep the answers that have come.

    They land in the ledger: run the command that sent them again. Example: benchtoward batches
    """
    import asyncio

    import typer

    from models.spending import reading

    with reading(runs / "ledger.sqlite"):
        pass  # no ledger, no batches: say so before one is made
    found = asyncio.run(_fetched(registry, runs))
    if json:
        from dataclasses import asdict
        from json import dumps

        print(dumps([asdict(batch) for batch in found], indent=1))
    else:
        show(found)
    raise typer.Exit(1 if any(batch.status == "failed" for batch in found) else 0)


async def _fetched(registry: Path, runs: Path) -> "list[Batch]":
    from models.batches import fetch
    from models.gateway import open_gateway

    async with open_gateway(registry, runs, command="batches") as gateway:
        return await fetch(gateway)


def show(found: "list[Batch]") -> None:
    from datetime import UTC, datetime

    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    if not found:
        print("no batch was sent yet; eval-text2sql --batch sends one")
        return
    table = Table(box=None, pad_edge=False)
    for name in ("batch", "sent (UTC)", "model", "status", "answered", ""):
        table.add_column(name)
    for batch in found:
        sent = datetime.fromtimestamp(batch.sent_at, UTC).strftime("%Y-%m-%d %H:%M")
        share = f"{batch.answered} of {batch.calls}"
        cells = (batch.name[:8], sent, batch.model, batch.status, share, batch.message)
        table.add_row(*(escape(cell) for cell in cells))
    Console(width=None if sys.stdout.isatty() else 160).print(table)
