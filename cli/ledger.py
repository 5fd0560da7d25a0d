"""`benchtoward ledger`: what the calls cost, one call whole, and the ledger as a file."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli.options import RUNS, JsonOption, RunsOption
from cli.telling import plain_lines

if TYPE_CHECKING:
    from models.spending import Sum

app = typer.Typer(help="What was asked, answered and paid.", invoke_without_command=True)


@app.callback()
def ledger(
    context: typer.Context,
    by: Annotated[
        list[str] | None,
        typer.Option(help="Group by model, role, command or day; may be repeated."),
    ] = None,
    runs: RunsOption = RUNS,
    json: JsonOption = False,
) -> None:
    """Show cost, tokens, latency and errors of all calls.

    Example: benchtoward ledger --by model --by day
    """
    if context.invoked_subcommand:
        return
    from models.spending import PARTS, sums

    groups = [part for part in PARTS if part in (by or ["model", "role"])]
    if unknown := set(by or ()) - set(PARTS):
        raise typer.BadParameter(f"{', '.join(unknown)}: group by {', '.join(PARTS)}")
    found = sums(runs / "ledger.sqlite", groups)
    if json:
        _print_json([vars(one) for one in found])
    else:
        _show_sums(found)


@app.command()
def show(
    key: Annotated[str, typer.Argument(help="The call's key, or how it begins.")],
    runs: RunsOption = RUNS,
    json: JsonOption = False,
) -> None:
    """Show one call: its prompt, its reply, and every attempt at it.

    Example: benchtoward ledger show 3f2a91
    """
    from dataclasses import asdict

    from models.ledger import Ledger
    from models.spending import attempts, reading

    path = runs / "ledger.sqlite"
    with reading(path) as db:
        whole = _one_key(db, key)
        tries = attempts(db, whole)
    opened = Ledger(path)
    try:
        request, answer = opened.request(whole), opened.find(whole)
    finally:
        opened.close()
    assert request is not None
    call = {
        "key": whole,
        "role": request.role,
        "request": request.decides,
        "answer": answer and asdict(answer),
        "attempts": tries,
    }
    if json:
        _print_json(call)
    else:
        _show_call(call)


@app.command()
def export(
    target: Annotated[
        Path, typer.Argument(help="Ends in .jsonl, .jsonl.gz, .jsonl.xz or .parquet.")
    ],
    runs: RunsOption = RUNS,
) -> None:
    """Write every answered call to a file: to keep, to analyse, or to replay.

    Example: benchtoward ledger export calls.jsonl.gz
    """
    from models.export import export as write

    count = write(runs / "ledger.sqlite", target)
    print(f"{target}: {count} calls")


def _one_key(db: Any, start: str) -> str:
    from models.spending import keys_beginning

    found = keys_beginning(db, start)
    if len(found) != 1:
        if not found:
            raise typer.BadParameter(
                f"no call's key begins with {start!r}; `text2sql show ITEM` names the call of each "
                "draft and verdict, `ledger export` lists them all"
            )
        shown = ", ".join(key[:12] for key in found[:5])
        raise typer.BadParameter(f"{start!r} must begin one key; it begins {shown}")
    return found[0]


def _show_sums(found: "list[Sum]") -> None:
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    if not found:
        print("no call was made yet")
        return
    table = Table(box=None, pad_edge=False)
    for name in found[0].parts:
        table.add_column(name)
    for name in ("answers", "open", "USD", "in", "cached", "out", "thinking", "s median, 95%"):
        table.add_column(name, justify="right")
    table.add_column("failed attempts")
    for one in found:
        table.add_row(*(escape(cell) for cell in _cells(one)))
    Console(width=None if sys.stdout.isatty() else 200).print(table)
    total, unknown = sum(one.cost_usd for one in found), sum(one.unknown_cost for one in found)
    print(f"in all ${total:.4f}" + (f" and {unknown} answers of unknown cost" if unknown else ""))


def _cells(one: "Sum") -> list[str]:
    cost = f"{one.cost_usd:.4f}" + (f" + {one.unknown_cost} unknown" if one.unknown_cost else "")
    counts = (one.input_tokens, one.cached_tokens, one.output_tokens, one.reasoning_tokens)
    latency = "" if one.latency_s is None else "{:.2f}, {:.2f}".format(*one.latency_s)
    errors = ", ".join(f"{count} {kind}" for kind, count in sorted(one.errors.items()))
    head = [*one.parts.values(), f"{one.answers:,}", f"{one.open_calls:,}", cost]
    return [*head, *(f"{count:,}" for count in counts), latency, errors]


def _show_call(call: dict[str, Any]) -> None:
    from json import dumps

    request, answer = call["request"], call["answer"]
    print(f"key {call['key']}\nrole {call['role']}")
    for name, value in request.items():
        if name != "messages":
            print(f"{name} {value if isinstance(value, str | int | float) else dumps(value)}")
    for message in request["messages"]:
        print(f"\n--- {message['role']}\n{plain_lines(message['content'])}")
    for name in ("reasoning", "text"):
        if answer and answer[name]:
            print(f"\n--- answer, {name}\n{plain_lines(answer[name])}")
    told = {k: v for k, v in (answer or {}).items() if k not in ("text", "reasoning", "key")}
    print("\n" + ("not answered" if answer is None else dumps(told, ensure_ascii=False)))
    for one in call["attempts"]:
        print(f"attempt {one['number']}: {dumps(one, ensure_ascii=False)}")


def _print_json(value: Any) -> None:
    from json import dumps

    print(dumps(value, ensure_ascii=False, indent=1))
