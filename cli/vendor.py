"""`benchtoward vendor`: put an upstream scorer's original file where it is checked and called."""

from pathlib import Path
from typing import Annotated

import typer


def vendor(
    name: Annotated[str, typer.Argument(help="Folder of third_party.", metavar="NAME")],
    source: Annotated[
        Path, typer.Option("--from", help="The original file.", metavar="FILE", dir_okay=False)
    ],
) -> None:
    """Put the original of an adopted scorer beside its ORIGIN, if its sha256 is right.

    From then on it is called for every score, and `make test` compares it with ours on all cases.

    Example: benchtoward vendor ehrsql-2024 --from scoring_utils.py
    """
    from eval.vendored import origins
    from eval.vendored import vendor as put

    place = put(name, source)
    origin = origins()[name]
    print(f"{place}: the original of {origin.repository}, {origin.licence}; called from now on")
