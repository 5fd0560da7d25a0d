"""The commands that look into finished runs, from the outside."""

import json

import pytest
import typer
from typer.testing import CliRunner

from cli import comparing, scoring, standings
from cli import exam as sitting
from registry.reader import FormatError
from tests import small

app = typer.Typer()
app.command("eval-text2sql")(sitting.eval_text2sql)
app.command("sop")(standings.sop)
app.command("rescore")(scoring.rescore)
app.command("leaderboard")(scoring.leaderboard)
app.command("compare")(comparing.compare)

A = {"hard/h1": "SELECT 4", "hard/h2": "SELECT gender, person_id FROM person WHERE year_of_birth <= 1970",
     "hard/h3": "SELECT person_id FROM visit ORDER BY day", "hard/h4": None,
     "easy/e1": "SELECT 3", "easy/e2": "SELECT gender, count(*) FROM person GROUP BY gender"}  # fmt: skip
B = {**A, "hard/h1": "SELECT count(*) FROM [persons]", "hard/h2": small.HARD[1].reference_sql}


def invoke(*args):
    return CliRunner().invoke(app, [str(arg) for arg in args])


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("standings")
    registry, data = small.make(folder)
    small.freeze(registry, data)
    options = ["--registry", registry, "--data", data, "--runs", folder / "runs"]
    for name, answers in (("x/a-1b", A), ("x/b-1b", B)):
        file = folder / f"{name[2]}.json"
        file.write_text(
            json.dumps(
                {f"{id}-{lang}": sql for id, sql in answers.items() for lang in ("ko", "en")}
            )
        )
        assert (
            invoke("eval-text2sql", "--model", name, "--predictions", file, *options).exit_code == 0
        )
    for name in ("benchtoward/prior", "benchtoward/text2sql-constant-query", "benchtoward/oracle"):
        assert invoke("eval-text2sql", "--model", name, *options).exit_code == 0
    return options


def test_two_runs_are_compared_item_by_item(place):
    done = invoke("compare", "x/a-1b", "x/b-1b", *place)
    assert done.exit_code == 0, done.output
    assert "hard rs0: x/a-1b minus x/b-1b 0.000" in done.stdout
    assert "4 flips: 2 good in x/a-1b only" in done.stdout
    assert "language ko: 1 in x/a-1b only, 1 in x/b-1b only" in done.stdout
    assert "SELECT count(*) FROM [persons]" in done.stdout
    assert "3 rows where the reference has 2" in done.stdout
    assert "reference None  answer (3, 'F')" in done.stdout


def test_a_comparison_is_one_json_document(place):
    value = json.loads(invoke("compare", "x/a-1b", "x/b-1b", "--json", *place).stdout)
    assert [(p["tier"], p["metric"]) for p in value["pairs"]] == [
        ("hard", "rs0"),
        ("hard", "ex"),
        ("easy", "ex"),
    ]
    assert value["flips"][0]["a"]["outcome"] == "right"


def test_a_run_that_is_not_there_is_told_what_is(place):
    done = invoke("compare", "x/a-1b", "x/c-1b", *place)
    assert isinstance(done.exception, FormatError)
    assert "no run of 'x/c-1b'; there are benchtoward/oracle, " in str(done.exception)


def test_the_sop_check_says_each_figure_and_its_verdict(place):
    done = invoke("sop", "--strong", "benchtoward/oracle", "--weak", "x/a-1b", *place)
    assert done.exit_code == 1
    assert "hard tier on rs0 (decides): fail" in done.stdout
    assert (
        "fail        headroom: 0.000 (0.000 to 0.000); benchtoward/oracle against benchtoward/prior"
        in done.stdout
    )
    assert "easy tier on ex (shown)" in done.stdout
    assert done.stdout.endswith("SOP check of small-text2sql@0: fail\n")


def test_a_task_without_a_reference_roster_asks_for_one(place):
    done = invoke("sop", *place)
    assert isinstance(done.exception, FormatError)
    assert "give --strong and --weak" in str(done.exception)


def test_a_changed_protocol_is_refused_until_the_runs_are_rescored(place, monkeypatch):
    """Agreements 9: `rescore` is the only way from one protocol to another; it shows what moves."""
    from eval import outcomes, spec

    monkeypatch.setattr(spec, "PROTOCOL", "2")
    monkeypatch.setattr(outcomes, "ERRORS", ("nothing",))
    refused = invoke("leaderboard", *place)
    assert "the protocol is 2, the spec pins 1" in str(refused.exception)
    shown = invoke("rescore", "--diff", *place)
    assert shown.exit_code == 1, shown.output
    assert "x/b-1b: 2 outcomes move (protocol 1 -> 2)" in shown.stdout
    assert "  hard/h1-en: sql_error" in shown.stdout
    assert "x/a-1b: 0 outcomes move" in shown.stdout


def test_a_rescore_by_the_same_rules_moves_nothing(place):
    done = invoke("rescore", "--diff", *place)
    assert (done.exit_code, done.stdout.count("0 outcomes move")) == (0, 5)
