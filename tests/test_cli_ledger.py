"""`benchtoward ledger`: sums, one call, exports that can be replayed."""

import asyncio
import gzip
import json

import pytest
from typer.testing import CliRunner

from cli.ledger import app
from models.export import calls, export, imported
from models.gateway import open_gateway
from models.spending import past, reading
from registry.reader import FormatError
from tests.models_setup import PRICE, QUICK, SQL, ask, registry
from tests.server import Server, Status, completion

USAGE = {
    "prompt_tokens": 1_000,
    "completion_tokens": 100,
    "prompt_tokens_details": {"cached_tokens": 800},
    "completion_tokens_details": {"reasoning_tokens": 60},
}


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """A runs folder with two reviewer calls (one after a 429) and one open author call."""
    folder = tmp_path_factory.mktemp("ledger")

    async def made():
        good = completion("[bold]SELECT 1", usage=USAGE)
        async with Server([Status(429), good, good, Status(400)]) as server:
            place = registry(folder / "registry", server.api_base, prices=[PRICE])
            async with open_gateway(
                place, folder / "runs", command="text2sql llm-review", retries=QUICK
            ) as gateway:
                for role, text in (("reviewer", "환자는?"), ("reviewer", "b"), ("author", "c")):
                    request = gateway.request(SQL, ask(text), max_tokens=200, role=role)
                    await asyncio.gather(gateway(request), return_exceptions=True)

    asyncio.run(made())
    return folder / "runs"


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_the_sums_are_by_model_and_role(runs):
    found = json.loads(run("--runs", runs, "--json").stdout)
    reviewer = next(one for one in found if one["parts"]["role"] == "reviewer")
    assert reviewer["parts"] == {"model": SQL, "role": "reviewer"}
    assert (reviewer["answers"], reviewer["input_tokens"], reviewer["cached_tokens"]) == (
        2,
        2000,
        1600,
    )
    assert (reviewer["output_tokens"], reviewer["reasoning_tokens"]) == (200, 120)
    assert reviewer["cost_usd"] == pytest.approx(2 * (1_000 * 1.0 + 100 * 2.0) / 1e6)
    assert reviewer["errors"] == {"rate_limit": 1}
    author = next(one for one in found if one["parts"]["role"] == "author")
    assert (author["answers"], author["open_calls"]) == (0, 1)
    assert author["errors"] == {"bad_request": 1}


@pytest.mark.parametrize("part", ["model", "role", "command", "day"])
def test_every_grouping_counts_each_call_once(runs, part):
    found = json.loads(run("--by", part, "--runs", runs, "--json").stdout)
    assert sum(one["answers"] for one in found) == 2


def test_the_table_names_what_failed_and_what_it_cost(runs):
    shown = run("--runs", runs).stdout
    assert "1 rate_limit" in shown
    assert "in all $0.0024" in shown


def test_past_answers_of_a_role_tell_what_the_next_will_be_like(runs):
    with reading(runs / "ledger.sqlite") as db:
        known = past(db, SQL, "reviewer")
        assert (known.answers, known.output_tokens) == (2, 100.0)
        assert past(db, SQL, "author") is None


def test_one_call_is_shown_with_its_prompt_reply_and_attempts(runs):
    key = next(calls(runs / "ledger.sqlite"))["key"]
    shown = run("show", key[:10], "--runs", runs).stdout
    assert "환자는?" in shown
    assert "[bold]SELECT 1" in shown
    assert '"outcome": "rate_limit", "status": 429' in shown


def test_an_unknown_key_says_so(runs):
    assert "no call's key begins" in run("show", "ffffffffffff", "--runs", runs).output


def test_no_ledger_is_a_clear_sentence(tmp_path):
    error = run("--runs", tmp_path).exception
    assert isinstance(error, FormatError)
    assert "no ledger here" in str(error)


@pytest.mark.parametrize("name", ["calls.jsonl", "calls.jsonl.gz", "calls.jsonl.xz"])
def test_an_export_comes_back_as_the_same_ledger(runs, tmp_path, name):
    assert export(runs / "ledger.sqlite", tmp_path / name) == 2
    copy = imported(tmp_path / name, tmp_path / "copy.sqlite")
    mine = [{**call, "attempts": []} for call in calls(runs / "ledger.sqlite")]
    assert [{**call, "attempts": []} for call in calls(copy)] == mine


def test_an_export_to_parquet_holds_every_call(runs, tmp_path):
    import pyarrow.parquet as pq

    run("export", tmp_path / "calls.parquet", "--runs", runs)
    table = pq.read_table(tmp_path / "calls.parquet")
    assert table.column("answer_text").to_pylist() == ["[bold]SELECT 1"] * 2


def test_a_changed_line_of_an_export_is_refused(runs, tmp_path):
    path = tmp_path / "calls.jsonl"
    export(runs / "ledger.sqlite", path)
    path.write_text(path.read_text().replace("환자는?", "환자?"))
    with pytest.raises(FormatError, match=r"calls.jsonl:1: the request is not the one"):
        imported(path, tmp_path / "copy.sqlite")


def test_an_export_with_another_ending_is_refused(runs, tmp_path):
    with pytest.raises(FormatError, match=r"name it \.jsonl"):
        export(runs / "ledger.sqlite", tmp_path / "calls.csv")


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("calls.jsonl", b'{"key": "\xff"}\n', ":1: not an exported call"),
        ("calls.jsonl", b"[" * 200_000 + b"\n", ":1: not an exported call"),
        ("calls.jsonl.gz", gzip.compress(b"{")[:-9], "cannot be unpacked"),
        ("calls.jsonl.xz", b"no xz", "cannot be unpacked"),
    ],
    ids=["no UTF-8", "too deep", "cut off", "no xz"],
)
def test_what_is_no_export_is_said_with_its_line(tmp_path, name, data, said):
    (tmp_path / name).write_bytes(data)
    with pytest.raises(FormatError, match=said):
        imported(tmp_path / name, tmp_path / "ledger.sqlite")
