"""Progress of a long command: a bar on a terminal, plain lines elsewhere, nothing for programs.

with progress("reviewing", total=20, quiet=json) as step:
    step("hard-001")            # one more is done
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Step = Callable[[str], None]


@contextmanager
def progress(what: str, total: int, *, quiet: bool = False) -> Iterator[Step]:
    """Yield a function that reports one more finished piece, by its name."""
    if quiet:
        yield lambda _name: None
    elif sys.stderr.isatty():
        yield from _bar(what, total)
    else:
        yield _lines(what, total)


def _bar(what: str, total: int) -> Iterator[Step]:
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task(what, total=total)

        def step(name: str) -> None:
            bar.update(task, advance=1, description=escape(f"{what} {name}"))

        yield step


def _lines(what: str, total: int) -> Step:
    done = 0
    print(f"{what} 0/{total}", file=sys.stderr, flush=True)

    def step(name: str) -> None:
        nonlocal done
        done += 1
        print(f"{what} {done}/{total} {name}", file=sys.stderr, flush=True)

    return step
