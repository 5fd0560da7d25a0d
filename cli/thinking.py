"""`benchtoward thinking`: whether a route's switch does what its name says."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.options import REGISTRY, RUNS, JsonOption, RegistryOption, RunsOption

if TYPE_CHECKING:
    from models.thinking import Thinking


def thinking(
    model: Annotated[str, typer.Argument(help="A model of registry/models.yaml.", metavar="MODEL")],
    registry: RegistryOption = REGISTRY,
    runs: RunsOption = RUNS,
    json: JsonOption = False,
) -> None:
    """Measure what a route's `thinking_off` fields do: six short calls.

    Example: benchtoward thinking deepseek/deepseek-v4.1-flash-552b-a16b
    """
    import asyncio
    from dataclasses import asdict

    from registry.canonical import canonical

    found = asyncio.run(_measured(model, registry, runs))
    if json:
        print(canonical(asdict(found) | {"finding": found.finding}))
        return
    for name, side in (("as served", found.plain), ("thinking_off", found.off)):
        print(
            f"{name:12s} thinking in {side.thought:.0%} of replies, {side.reasoning_chars:.0f} characters "
            f"of it, {side.output_tokens:.0f} tokens written"
        )
    print(f"{found.model} by {found.route}: {found.finding}")


async def _measured(model: str, registry: Path, runs: Path) -> "Thinking":
    from models.gateway import open_gateway
    from models.thinking import measure

    async with open_gateway(registry, runs, command="thinking", models=(model,)) as gateway:
        return await measure(gateway, model)
