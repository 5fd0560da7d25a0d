"""What `hard-generate` does between its options and its last line."""

from typing import Any

from cli.making import Setting, bench, models_in


async def generated(
    where: Setting, count: int, budget: float | None, *, quiet: bool
) -> dict[str, Any]:
    """Let the authors fill the plan's empty places; returns what was written."""
    from agents.panel import authors
    from cli.progress import progress
    from graphs import authoring, pipeline
    from graphs.plan import plan

    seats = where.roster.authors
    async with bench(where, "text2sql hard-generate", models_in(seats), budget) as b:
        slots = plan(where.tier, count, len(seats))
        held = authors(seats, b.gateway, b.briefing, b.limits)
        context = authoring.Context(b.book, b.ground, held, slots)
        places = [id for id in slots if id not in b.book.ids]
        with progress("writing", len(places), quiet=quiet) as step:
            await pipeline.write_items(context, where.runs, step)
        empty = [id for id in slots if id not in b.book.ids]
        return {
            "file": str(where.path),
            "written": len(places) - len(empty),
            "items": len(b.book.questions),
            "empty": empty,
            "next": "text2sql check",
        }
