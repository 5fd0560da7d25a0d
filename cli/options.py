"""The options that every command shares, and how lines and tables go out."""

from pathlib import Path
from typing import Annotated

import typer

RegistryOption = Annotated[
    Path,
    typer.Option(
        "--registry",
        help="Folder of what is fixed and versioned.",
        metavar="DIR",
        exists=True,
        file_okay=False,
    ),
]
RunsOption = Annotated[
    Path, typer.Option("--runs", help="Folder of the ledger, checkpoints and runs.", metavar="DIR")
]
DataOption = Annotated[Path, typer.Option("--data", help="Folder of the databases.", metavar="DIR")]
TaskOption = Annotated[
    str | None,
    typer.Option(
        "--task",
        envvar="BENCHTOWARD_TASK",
        help="slug, or slug@version; default: the only task.",
        metavar="TASK",
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="One JSON document for programs.")]


def printable(text: str) -> str:
    """Return a name or a reason that can stand in a record and on a terminal. Raises: BadParameter."""
    if not text.isprintable():
        shown = "".join(c if c.isprintable() else "?" for c in text)
        raise typer.BadParameter(f"{shown!r} holds a line break or a control character at each ?")
    return text


REGISTRY = Path("registry")
RUNS = Path("runs")
DATA = Path("data")
