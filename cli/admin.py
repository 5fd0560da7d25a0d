"""The `benchtoward-admin` command: what maintainers look into and nobody else needs."""

from typing import Annotated

import typer

from cli.main import run as guarded
from cli.opening import instance_of, opened
from cli.options import DATA, REGISTRY, DataOption, JsonOption, RegistryOption, TaskOption

app = typer.Typer(
    help="Look into a task as a maintainer.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
text2sql = typer.Typer(help="Text-to-SQL tasks.", no_args_is_help=True, rich_markup_mode=None)
app.add_typer(text2sql, name="text2sql")


@text2sql.command("prompt")
def prompt(
    instance: Annotated[str, typer.Argument(help="<tier>/<question id>-<lang>")],
    task: TaskOption = None,
    registry: RegistryOption = REGISTRY,
    data: DataOption = DATA,
    json: JsonOption = False,
) -> None:
    """Print one instance's prompt as every model gets it.

    Example: benchtoward-admin text2sql prompt hard/hard-001-ko
    """
    from dataclasses import asdict
    from json import dumps

    with opened(registry, data, task, True) as exam:
        request = exam.next_request(instance_of(exam, instance), ())
    assert request is not None
    if json:
        print(
            dumps([asdict(message) for message in request.messages], ensure_ascii=False, indent=1)
        )
    else:
        print("\n\n".join(f"--- {m.role}\n{m.content}" for m in request.messages))


def run() -> None:
    """Run the command line; see cli.main."""
    guarded(app)
