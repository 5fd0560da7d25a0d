"""The owner's word on an item that waits: shown whole, then approved, waived, edited or dropped."""

import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import typer

from cli.desk_words import signed
from cli.differing import change_lines
from cli.editing import draft_of, edited
from cli.making import Setting, bench
from cli.telling import item_lines, plain, result_lines, side_by_side, verdict_lines
from registry.reader import FormatError

if TYPE_CHECKING:
    from items.questions import Question
    from registry.events import Event

Act = Literal["approve", "edit", "drop", "waive"]
ACTS = {"item": ("approve", "edit", "drop"), "waiver": ("waive", "edit", "drop")}


@dataclass(frozen=True)
class Word:
    """What the owner said on the command line; what is missing is asked for at a terminal."""

    act: Act | None = None
    by: str = ""
    reason: str = ""
    rule: str = ""
    edit: Path | None = None
    changed: dict[str, str] = field(default_factory=dict)


def settle_item(
    where: Setting, shown: dict[str, Any], word: Word, budget: float | None, *, json: bool
) -> None:
    """Show an item that waits; with an act, let its thread go on. Raises: FormatError."""
    import asyncio

    from registry.canonical import canonical

    id = shown["item"]
    seen = _seen(where, id, shown.get("problems", ()))
    if not json:
        _print(seen)
    elif word.act is None:
        print(canonical(seen.as_json()))
    if word.act is None and (json or not sys.stdin.isatty()):
        return
    answer = _answer(where, shown, word)
    asyncio.run(_settle(where, shown, answer, budget, quiet=json))
    draft_of(where, id).unlink(missing_ok=True)  # the edit stands in the record
    if json:
        print(canonical({"item": id, "act": answer["act"], "by": answer["by"]}))
        return
    print(f"{id}: {answer['act']} by {answer['by']}; `text2sql show {id}` tells what came of it")


@dataclass(frozen=True)
class Seen:
    """An item as the owner sees it: its entry, the rules it breaks, its fixes, results and verdicts.

    results: the lines of the reference's result, then of each reviewer's own, by name.
    """

    question: "Question"
    problems: tuple[str, ...]
    changes: tuple[list[str], ...]
    results: dict[str, list[str]]
    verdicts: "tuple[Event, ...]"

    def as_json(self) -> dict[str, Any]:
        """Return it for programs."""
        told = {"item": asdict(self.question.item), "problems": list(self.problems)}
        return {**told, "results": self.results, "verdicts": [asdict(e) for e in self.verdicts]}


def _seen(where: Setting, id: str, problems: Sequence[str]) -> Seen:
    """Return an item that waits, with what its queries give now."""
    from cli.making import opened_database
    from items.approvals import approval
    from items.questions import load_questions
    from items.records import record_of
    from registry.events import load

    question = load_questions(where.path).question(id)
    record = load(record_of(where.path))
    verdicts = approval(record, question.item).verdicts
    changes = tuple(change_lines(e for e in record if e.item == id).values())
    with opened_database(where) as database:
        queries = {"reference": question.reference_sql}
        queries |= {f"seat {e.body['seat']}": _own(e) for e in verdicts}
        results = {name: result_lines(database.run(sql)) for name, sql in queries.items() if sql}
    return Seen(question, tuple(problems), changes, results, verdicts)


def _print(seen: Seen) -> None:
    """Print an item, the rules it breaks, its results side by side, and every verdict."""
    lines = item_lines(seen.question)
    lines += [f"broken: {plain(problem)}" for problem in seen.problems]
    for changed in seen.changes:
        lines += ["what was changed:", *changed]
    lines += side_by_side(seen.results)
    for event in seen.verdicts:
        lines += verdict_lines(event)
    print("\n".join(lines))


def _own(event: "Event") -> str | None:
    return (event.body.get("commit") or {}).get("sql")


def _answer(where: Setting, shown: dict[str, Any], word: Word) -> dict[str, Any]:
    """Return the owner's word on an item; what is missing is asked for on a terminal.

    Raises: FormatError (an act that such an item does not take, a rule that it does not break),
    typer.BadParameter (no name or reason).
    """
    acts = ACTS[shown["kind"]]
    act: str = word.act or typer.prompt(f"{', '.join(acts)}?")
    if act not in acts:
        told = f"{shown['item']} takes --act {', '.join(acts)}, not {act}"
        raise FormatError(where.path, None, told)
    rule = {"rule": _rule(where, shown, word)} if act == "waive" else {}
    by, reason = signed(word.by, word.reason)
    answer: dict[str, Any] = {"act": act, "by": by, "reason": reason, **rule}
    if act == "edit":
        answer["item"] = edited(where, shown["item"], word.edit, word.changed)
    return answer


def _rule(where: Setting, shown: dict[str, Any], word: Word) -> str:
    """Return the rule that is waived: the one that is broken, or the one named of several."""
    broken = [problem.partition(":")[0] for problem in shown["problems"]]
    rule = word.rule or (broken[0] if len(set(broken)) == 1 else "")
    if rule not in broken:
        told = f"{shown['item']} takes --act waive with --rule {' or '.join(broken)}"
        raise FormatError(where.path, None, told)
    return rule


async def _settle(
    where: Setting,
    shown: dict[str, Any],
    answer: dict[str, Any],
    budget: float | None,
    *,
    quiet: bool,
) -> None:
    """Let the waiting thread, of a review or of a fix, go on with the owner's word."""
    from cli.making import models_in
    from cli.progress import progress
    from cli.reviewing import Work, panel_context
    from graphs import pipeline

    roster, id, rounds = where.roster, shown["item"], int(shown["command"] == "fix")
    models = models_in(roster.reviewers, roster.fixers) if answer["act"] != "drop" else ()
    async with bench(where, "text2sql desk", models, budget) as b:
        work = Work(rounds=rounds, unsettled="owner" if rounds else "keep")
        context = panel_context(b, work)
        with progress("settling", 1, quiet=quiet) as step:
            await pipeline.review_items(
                [(context, id)],
                where.runs,
                panel=roster.id,
                rounds=rounds,
                step=step,
                answers={id: answer},
            )
