"""The `benchtoward-admin` command: what maintainers look into and nobody else needs."""

import typer

from cli.exam import prompt
from cli.main import run as guarded

app = typer.Typer(
    help="Look into a task as a maintainer.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
text2sql = typer.Typer(help="Text-to-SQL tasks.", no_args_is_help=True, rich_markup_mode=None)
app.add_typer(text2sql, name="text2sql")
text2sql.command("prompt")(prompt)


def run() -> None:
    """Run the command line; see cli.main."""
    guarded(app)
