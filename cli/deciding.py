"""`llm-decide`: decisions are put to the panel, and with --freeze the task is frozen on them."""

import sys
from contextlib import redirect_stdout
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from cli.making import (
    ROSTER,
    BudgetOption,
    PlanOption,
    RosterOption,
    Setting,
    bench,
    models_in,
    setting,
    single_model,
    unfrozen,
)
from cli.options import (
    DATA,
    REGISTRY,
    RUNS,
    DataOption,
    JsonOption,
    RegistryOption,
    RunsOption,
    TaskOption,
    printable,
)
from cli.votes import repeat_votes, say_decisions
from registry.reader import FormatError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cli.making import Bench
    from cli.planning import Planned
    from graphs.decision import Context, Evidence
    from items.decisions import Decision


@dataclass(frozen=True)
class Voting:
    """What a vote is to do: which decisions, the owner's words, stale ones anew, repeats.

    only: this decision and no other; the owner at the desk settles one at a time.
    """

    freeze: bool
    answers: dict[str, dict[str, str]]
    again: bool
    stability: int
    only: str | None = None


def llm_decide(
    freeze: Annotated[
        bool, typer.Option("--freeze", help="Ask the freeze decisions, then write the pins.")
    ] = False,
    owner: Annotated[
        list[str] | None,
        typer.Option(
            "--owner", help="The owner's word on a decision: ID=OPTION.", metavar="ID=OPTION"
        ),
    ] = None,
    by: Annotated[
        str,
        typer.Option("--by", help="Who the owner is; stands in the record.", callback=printable),
    ] = "owner",
    reason: Annotated[
        str, typer.Option("--reason", help="Why the owner decides so.", callback=printable)
    ] = "",
    yes: Annotated[bool, typer.Option("--yes", help="Freeze without asking; recorded.")] = False,
    stability: Annotated[
        int,
        typer.Option(
            "--stability", min=0, help="Also ask each first ballot N times in other orders."
        ),
    ] = 0,
    again: Annotated[
        bool, typer.Option("--again", help="Vote anew where today's evidence is not the vote's.")
    ] = False,
    task: TaskOption = None,
    roster: RosterOption = ROSTER,
    plan: PlanOption = False,
    budget: BudgetOption = None,
    registry: RegistryOption = REGISTRY,
    runs: RunsOption = RUNS,
    data: DataOption = DATA,
    json: JsonOption = False,
) -> None:
    """Put the open decisions to the three voters: more than half of the seats decide, else the owner.

    Every voter sees the same dated evidence file and the options in an order of its own.
    Example: benchtoward text2sql llm-decide --freeze --roster source
    """
    import asyncio

    from cli.evidence import current_evidence, planned_evidence
    from cli.freezing import freeze_task
    from cli.planning import say_plan
    from cli.settled import frozen_state
    from registry.canonical import canonical

    where = setting(registry, runs, data, task, "hard", roster)
    if freeze and where.task.pins is not None:
        print(
            canonical(frozen_state(where))
            if json
            else f"{where.task.task} is frozen since {where.task.pins.frozen}; nothing to do"
        )
        return
    unfrozen(where)
    answers = _answers(owner or [], by, reason)
    vote = Voting(freeze, answers, again, stability)
    if plan:
        say_plan(asyncio.run(_planned(where, planned_evidence(where, again), vote)), json=json)
        return
    shown = current_evidence(where, again)
    asked, open_ = asyncio.run(decide_on(where, shown, vote, budget, quiet=json))
    if not (json and freeze):
        say_decisions(where, asked, json=json)
    if open_:
        print(
            f"not decided: {', '.join(open_)}; the owner decides with --owner ID=OPTION --reason ..."
        )
        raise typer.Exit(1)
    if freeze and not json:
        freeze_task(where, by=by, reason=reason, yes=yes)
    elif freeze:
        with redirect_stdout(sys.stderr):  # the plan is for people; programs get one document
            freeze_task(where, by=by, reason=reason, yes=yes)
        print(canonical(frozen_state(where)))


def evidence(
    task: TaskOption = None,
    roster: RosterOption = ROSTER,
    registry: RegistryOption = REGISTRY,
    runs: RunsOption = RUNS,
    data: DataOption = DATA,
) -> None:
    """Write today's evidence file: what is known of the items, the runs and the limits.

    Voters see it whole, and their votes rest on its sha256. Example: benchtoward text2sql evidence
    """
    from cli.evidence import write_evidence

    where = setting(registry, runs, data, task, "hard", roster)
    unfrozen(where)
    print(write_evidence(where))


async def decide_on(
    where: Setting, shown: "Evidence", vote: Voting, budget: float | None, *, quiet: bool
) -> tuple[list[str], list[str]]:
    """Ask what is open; returns what was asked, and what nobody has decided yet."""
    from cli.progress import progress
    from graphs import pipeline

    asked = _asked(where, vote)
    async with bench(where, "text2sql llm-decide", (), budget) as b:
        context = _context(b, asked, shown)
        open_, old = _open(context, where, again=vote.again)
        _refuse_decided(context, where, vote, open_)
        if open_ or vote.stability:  # a freeze on what is decided needs no key
            b.gateway.require(*models_in(where.roster.voters))
        for id in old:
            print(
                f"{id}: its evidence has changed since the vote"
                + ("" if vote.again else " (--again votes anew)")
            )
        if not open_ and not quiet:
            print(f"{len(asked)} decisions stand; --again votes anew on today's evidence")
        with progress("deciding", len(open_), quiet=quiet) as step:
            waiting = await pipeline.decide(context, where.runs, open_, step, answers=vote.answers)
        if vote.stability:
            await repeat_votes(context, list(asked), vote.stability, quiet=quiet)
        return open_, waiting


async def _planned(where: Setting, shown: "Evidence", vote: Voting) -> "list[Planned]":
    """Return what the voters would be asked."""
    from cli.planning_votes import plan_voters

    async with bench(where, "plan", (), None) as b:
        context = _context(b, _asked(where, vote), shown)
        open_, _ = _open(context, where, again=vote.again)
        return await plan_voters(b, context, open_, vote.stability)


def _asked(where: Setting, vote: Voting) -> "dict[str, Decision]":
    """Return the decisions that the command is about, by id. Raises: FormatError."""
    from items.decisions import load_decisions

    known = load_decisions(where.registry, freeze=None if vote.freeze else False)
    asked = {d.id: d for d in known if vote.only in (None, d.id)}
    _known(where, asked, vote.answers)
    return asked


def _context(b: "Bench", asked: "dict[str, Decision]", shown: "Evidence") -> "Context":
    from agents.panel import voters
    from graphs.decision import Context

    seats = b.setting.roster.voters
    held = voters(seats, b.gateway, b.briefing, b.limits)
    return Context(b.book, held, asked, shown, single_model(seats, b.gateway.cards))


def _open(context: "Context", where: Setting, *, again: bool) -> tuple[list[str], list[str]]:
    """Return the decisions to ask now, and those decided on evidence that has changed since."""
    from cli.evidence import stale
    from items.records import decisions

    settled = {d.id: d for d in decisions(context.book.events) if d.option is not None}
    asked, now = context.decisions, context.evidence.reference
    old = [id for id, d in settled.items() if stale(where, d) or (again and now not in d.evidence)]
    return [id for id in asked if id not in settled or (again and id in old)], old


def _refuse_decided(context: "Context", where: Setting, vote: Voting, open_: list[str]) -> None:
    """Refuse an owner's word on what is decided: a vote holds until it is voted anew. Raises: FormatError."""
    from items.records import decisions

    for found in decisions(context.book.events):
        if found.id in vote.answers and found.id not in open_ and found.id in context.decisions:
            told = f"{found.id} is decided: {found.option} ({found.tally}, by {found.by}); --again votes anew"
            raise FormatError(where.path, None, told)


def _answers(owner: list[str], by: str, reason: str) -> dict[str, dict[str, str]]:
    answers = {}
    for word in owner:
        id, found, option = word.partition("=")
        if not found or not reason.strip():
            raise typer.BadParameter(f"{word!r}: write --owner ID=OPTION with a --reason")
        answers[id] = {"option": option, "by": by, "reason": reason}
    return answers


def _known(
    where: Setting, asked: "Mapping[str, Decision]", answers: dict[str, dict[str, str]]
) -> None:
    """Refuse an owner's word on what nobody asked. Raises: FormatError."""
    folder = where.registry / "decisions"
    if not asked:
        raise FormatError(folder, None, "no decision to ask; one YAML file each")
    for id, answer in answers.items():
        if id not in asked:
            raise FormatError(folder, None, f"no decision {id!r}; there are {', '.join(asked)}")
        options = [option.id for option in asked[id].options]
        if answer["option"] not in options:
            raise FormatError(
                folder / f"{id}.yaml", None, f"no option {answer['option']!r}; {', '.join(options)}"
            )
