"""The `benchtoward` command: its groups, and the one place where our errors become exit codes.

0 done · 1 found problems · 2 wrong use or broken input · 3 stopped by a budget · 130 interrupted
"""

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from cli import (
    batches,
    comparing,
    demo,
    doctor,
    exam,
    fetch,
    ledger,
    release,
    scoring,
    standings,
    text2sql,
    thinking,
    vendor,
    verifying,
)
from cli.telling import plain_lines, sentence
from registry.reader import FormatError

INTERRUPTED = 130  # what typer makes of Ctrl-C

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


@app.callback()
def everything(
    replay: Annotated[
        Path | None,
        typer.Option(
            help="Answer every model call from this ledger or JSONL export; make none.",
            envvar="BENCHTOWARD_REPLAY",
            metavar="LEDGER",
            exists=True,
            dir_okay=False,
        ),
    ] = None,
) -> None:
    """Make, check and run a text-to-SQL benchmark whose every item, vote and score can be defended."""
    if replay:
        os.environ["BENCHTOWARD_REPLAY"] = str(replay)


app.command("demo")(demo.demo)
app.add_typer(fetch.app, name="fetch")
app.add_typer(text2sql.app, name="text2sql")
app.command("eval-text2sql")(exam.eval_text2sql)
app.command("score")(scoring.score)
app.command("rescore")(scoring.rescore)
app.command("leaderboard")(scoring.leaderboard)
app.command("compare")(comparing.compare)
app.command("report")(standings.report)
app.command("sop")(standings.sop)
app.command("verify")(verifying.verify)
app.command("lint")(release.lint)
app.add_typer(ledger.app, name="ledger")
app.command("batches")(batches.batches)
app.command("thinking")(thinking.thinking)
app.command("vendor")(vendor.vendor)
app.command("doctor")(doctor.doctor)


def run(command: typer.Typer = app) -> None:
    """Run a command line; print our errors as one sentence and return 2."""
    try:
        command()
    except SystemExit as end:
        if end.code == INTERRUPTED:
            print("\ninterrupted; run the same command again to go on", file=sys.stderr)
        raise
    except Exception as error:
        if not _ours(error):
            raise
        print(plain_lines(f"benchtoward: {sentence(error)}"), file=sys.stderr)
        sys.exit(getattr(error, "exit_code", 2))


def _ours(error: Exception) -> bool:
    """Tell whether an error is meant for the user: FormatError, QueryError, ModelError, OSError.

    By name for the two whose modules are heavy: `--help` must not import them.
    """
    names = {kind.__name__ for kind in type(error).__mro__}
    return isinstance(error, FormatError | OSError) or bool(names & {"QueryError", "ModelError"})
