"""A model over loopback takes the exam: what it is asked, what it costs, and what stops it."""

import asyncio
import math
import re

import pytest

from database.engine import open_database
from eval.abstain import Rule
from eval.leaderboard import board
from eval.spec import open_task
from eval.take import Options, planned, reasons, take
from eval.text2sql import Text2Sql
from models.budget import BudgetError
from models.call import ModelError
from models.gateway import RouteDown
from tests import small
from tests.models_setup import PRICE, SQL
from tests.models_setup import registry as model_registry
from tests.server import Server, Status, completion


def fenced(sql):
    return f"```sql\n{sql}\n```"


def knows_h1(body):
    """A model that knows one hard question and the whole easy tier's first."""
    question = body["messages"][-1]["content"].rpartition("# Question\n\n")[2]
    if "h4" in question:
        return "There is no such table.\n\nABSTAIN"
    return fenced("SELECT count(*) FROM " + ("visit" if "e1" in question else "person"))


@pytest.fixture
def place(tmp_path):
    registry, data = small.make(tmp_path)
    small.freeze(registry, data)
    return registry, data, tmp_path / "runs"


async def sat(place, server, *many, route=None, card="", dry_run=False, call=take, **changes):
    """Take the exam with each of the options, one after the other, on one server.

    route: changes of the model's route; card: what stands in the card instead of its own line.
    """
    registry, data, runs = place
    there = {"api_base": server.api_base, "logprobs": True, **(route or {})}
    models = model_registry(registry, **there) / "models.yaml"
    name = card.partition(":")[0]
    models.write_text(
        re.sub(rf"{name}: \d+", card, models.read_text()) if card else models.read_text()
    )
    with open_database(data / "eunomia.duckdb", workers=2) as database:
        exam = Text2Sql(open_task(registry, small.TASK, database, dry_run=dry_run))
        found = []
        for options in many or ({},):
            given = Options(SQL, **{**options, **changes})
            done = call(exam, registry, runs, given)
            found.append(await done if asyncio.iscoroutine(done) else done)
        return exam, found


def run(script, place, *many, **more):
    async def all_of_it():
        async with Server(script) as server:
            exam, found = await sat(place, server, *many, **more)
            return exam, found, server

    return asyncio.run(all_of_it())


def test_a_model_is_asked_every_instance_once_by_the_protocol(place):
    exam, (first, again), server = run(knows_h1, place, {}, {})
    assert (first.sitting.asked, again.sitting.kept, server.served) == (12, 12, 12)
    assert {body["temperature"] for body in server.bodies} == {0}
    assert {body["max_tokens"] for body in server.bodies} == {64}
    assert {len(body["messages"]) for body in server.bodies} == {2}
    (entry,) = board(exam, [again.run]).entries
    assert entry.counts["hard"]["right"] == 2
    assert entry.counts["hard"]["abstained"] == 2
    assert entry.figures[("hard", "rs0")].value == 0.5
    assert entry.figures[("easy", "ex")].value == 0.5


def test_a_dry_runs_answers_are_reused_and_the_row_says_so(place):
    """S1-022: wherever the prompt and the output limit are the same, even with the ledger gone."""
    run(knows_h1, place, label="dry", dry_run=True)
    (place[2] / "ledger.sqlite").unlink()
    _, (taken,), server = run(knows_h1, place, reuse=True)
    assert (taken.sitting.reused, server.served) == (12, 0)


def test_without_reuse_an_exam_asks_what_no_ledger_knows(place):
    run(knows_h1, place, label="dry", dry_run=True)
    (place[2] / "ledger.sqlite").unlink()
    _, (taken,), server = run(knows_h1, place)
    assert (taken.sitting.asked, server.served) == (12, 12)


def test_why_names_the_part_of_the_request_that_differs(place):
    run(knows_h1, place, label="dry", dry_run=True)
    _, (same,), _ = run(knows_h1, place, call=reasons, reuse=True)
    assert str(same[0]) == f"easy/e1-en: reused from {SQL.replace('/', '--')}"
    _, (other,), _ = run(knows_h1, place, call=reasons, reuse=True, route={"request": {"top_k": 1}})
    assert "extras is {'top_k': 1}, was {}" in str(other[0])


def test_a_budget_stops_before_the_call_that_could_pass_it(place):
    """The answers so far are kept; the run shows bounds and no rank."""
    one = {"prices": [{**PRICE, "input": 1000.0, "output": 1000.0}], "concurrency": 1}

    def dear(body):
        return completion(knows_h1(body), usage={"prompt_tokens": 2000, "completion_tokens": 9})

    exam, (taken,), server = run(dear, place, route=one, gateway={"budget_usd": 9.0})
    assert isinstance(taken.sitting.stopped, BudgetError)
    assert 0 < server.served < 12
    (entry,) = board(exam, [taken.run]).entries
    assert entry.rank is None
    assert entry.bounds[0] < entry.bounds[1]
    assert taken.run.open == 12 - server.served


def test_a_route_that_is_down_stops_the_run_and_leaves_it_open(place):
    _, (taken,), server = run([Status(401, "wrong key")], place, route={"concurrency": 1})
    assert isinstance(taken.sitting.stopped, RouteDown)
    assert taken.run.open == 12
    assert server.served == 1
    _, (again,), _ = run(knows_h1, place)
    assert again.run.open == 0


def test_a_model_that_cannot_write_as_much_as_the_task_allows_is_not_run(place):
    """S1-113; said before anything is asked."""
    with pytest.raises(ModelError, match="writes at most 32 tokens"):
        run(knows_h1, place, card="output_limit: 32")


def test_a_prompt_that_does_not_fit_the_context_is_told_before_the_first_call(place):
    with pytest.raises(ModelError, match="takes 300 tokens in all"):
        run(knows_h1, place, card="context: 300")


def test_a_plan_tells_calls_tokens_and_cost_and_asks_nothing(place):
    priced = {"prices": [PRICE]}
    _, (plan,), server = run(knows_h1, place, call=planned, route=priced)
    assert (plan.calls, plan.known, server.served) == (12, 0, 0)
    assert plan.most_output_tokens == 12 * 64
    assert 0 < plan.low_usd < plan.high_usd
    assert plan.expected_usd is None
    run(knows_h1, place, {"limit": 1}, route=priced)
    _, (rest,), _ = run(knows_h1, place, call=planned, route=priced)
    assert (rest.calls, rest.known) == (8, 4)
    assert rest.low_usd < rest.expected_usd < rest.high_usd


def test_a_model_abstains_where_it_is_unsure(place):
    """The threshold is fitted on the easy tier; the hard tier's unsure queries become abstentions."""

    def unsure(body):
        text = knows_h1(body)
        sure = "person" not in text or "h1" in body["messages"][-1]["content"]
        share = 0.999 if sure else 0.5
        top = [{"token": t, "logprob": math.log(p)} for t, p in (("a", share), ("b", 1 - share))]
        return completion(
            text, logprobs={"content": [{"token": "a", "logprob": 0, "top_logprobs": top}]}
        )

    exam, (taken,), server = run(unsure, place, abstain=Rule("easy"))
    made, threshold = taken.abstaining
    assert {body["top_logprobs"] for body in server.bodies} == {20}
    assert 0.01 < threshold.value < 0.69
    plain, abstains = board(exam, [taken.run, made]).entries
    assert {plain.model, abstains.model} == {SQL, f"{SQL}+entropy"}
    outcomes = {row.instance.id: row.outcome for row in made.scored}
    assert outcomes["hard/h1-ko"] == "right"
    assert outcomes["hard/h2-ko"] == "abstained"
    assert outcomes["easy/e2-ko"] == "wrong_result"


def test_a_model_without_two_kinds_of_queries_keeps_its_run_and_has_no_threshold(place):
    _, (taken,), _ = run(
        lambda body: completion("prose", logprobs={"content": []}), place, abstain=Rule("easy")
    )
    assert taken.run.open == 0
    assert taken.abstaining is None
    assert "no threshold on tier 'easy'" in taken.no_threshold


def test_a_route_without_log_probabilities_cannot_abstain_by_entropy(place):
    with pytest.raises(ModelError, match="returns no log-probabilities"):
        run(knows_h1, place, abstain=Rule("easy"), route={"logprobs": False})


def test_a_reply_with_half_a_character_is_kept_and_scored(place):
    """JSON can carry a lone surrogate; neither the ledger nor the run's file may choke on it."""
    _, (taken,), _ = run(lambda body: fenced("SELECT '\ud800'"), place)
    assert taken.sitting.failed == 0
    assert taken.run.open == 0
    assert {row.outcome for row in taken.run.scored} == {"wrong_result"}
