"""What the exam's commands open before they begin: a task with its database."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from eval.exam import Exam
    from eval.text2sql import Text2Sql

DryOption = Annotated[
    bool, typer.Option("--dry-run", help="A dry run: also on a task that is not frozen.")
]


def instance_of(exam: "Exam", id: str) -> Any:
    """Return an instance by its id. Raises: BadParameter that shows what ids look like."""
    known = {instance.id: instance for instance in exam.instances()}
    if id not in known:
        shown = ", ".join(list(known)[:3])
        raise typer.BadParameter(f"{exam.task} has no instance {id!r}; ids look like {shown}")
    return known[id]


@contextmanager
def opened(
    registry: Path,
    data: Path,
    task: str | None,
    dry_run: bool,
    *,
    other_protocol: bool = False,
    max_tokens: int | None = None,
) -> Iterator["Text2Sql"]:
    """Hold a text2sql exam open with its database; see eval.spec.open_task and open_text2sql."""
    from database.engine import open_database
    from eval.spec import find_task, open_task
    from eval.text2sql import open_text2sql
    from items.freeze import load_spec, spec_path

    name = find_task(registry, task)
    spec = load_spec(spec_path(registry, name))
    with open_database(data / f"{spec.dataset}.duckdb", workers=2) as database:
        how = {"dry_run": dry_run, "other_protocol": other_protocol}
        opened_task = open_task(registry, name, database, **how)
        yield open_text2sql(opened_task, max_tokens=max_tokens)
