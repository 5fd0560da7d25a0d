"""A run that abstains by entropy: the threshold of one tier, applied to the tier that offers ABSTAIN."""

import asyncio
from dataclasses import replace
from math import log

import pytest

from database.engine import open_database
from eval.abstain import Rule, abstain_by_entropy
from eval.candidates import Candidate
from eval.report import report
from eval.rows import Row, run_folder, writing
from eval.run import addressed
from eval.score import score
from eval.spec import open_task
from eval.take import header
from eval.text2sql import Text2Sql
from models.call import Answer
from registry.reader import FormatError
from tests import small

MODEL = "maker/unsure-1b"
TIERS = {"hard": True, "easy": False}
SURE, UNSURE = (0.1, 0.2), (0.1, 1.9)
REPLIES = {  # question: reply, entropies of its tokens
    "h1": ("```sql\nSELECT count(*) FROM person\n```", SURE),
    "h2": ("```sql\nSELECT 1\n```", UNSURE),
    "h3": ("ABSTAIN", SURE),
    "h4": ("```sql\nSELECT 2\n```", UNSURE),
    "e1": ("```sql\nSELECT count(*) FROM visit\n```", SURE),
    "e2": ("```sql\nSELECT 3\n```", UNSURE),
}


@pytest.fixture(scope="module")
def exam(tmp_path_factory):
    registry, data = small.make(tmp_path_factory.mktemp("small"))
    small.freeze(registry, data)
    with open_database(data / "eunomia.duckdb") as database:
        yield Text2Sql(open_task(registry, small.TASK, database))


def answered(exam, runs, replies):
    """A run with these replies, as `sit` would have written it."""
    folder = run_folder(runs, "exam", exam.task, MODEL)
    address = {"model": MODEL, "logprobs": 5}
    folder.path.mkdir(parents=True)
    folder.write_header(header(exam, Candidate(MODEL, address), "exam"))
    with writing(folder) as writer:
        for instance in exam.instances():
            request = addressed(address)(exam.next_request(instance, ()))
            text, entropies = replies[instance.cluster]
            answer = Answer(text, token_entropies=entropies, key=request.key)
            writer.append(Row(instance.id, 0, request.key, answer=answer))
    return folder


def outcomes(exam, folder):
    (run,) = asyncio.run(score(exam, folder))
    return {row.instance.id: row.outcome for row in run.scored if row.instance.id.endswith("en")}


def test_a_query_above_the_threshold_becomes_an_abstention_where_that_is_offered(exam, tmp_path):
    asked = answered(exam, tmp_path, REPLIES)
    made = run_folder(tmp_path, "exam", exam.task, f"{MODEL}+entropy")
    made.path.mkdir(parents=True)
    threshold = abstain_by_entropy(exam, asked, made, TIERS, Rule("easy"))
    assert (threshold.value, threshold.fitted_on, threshold.bound) == (1.05, 4, "lower")
    assert outcomes(exam, asked)["hard/h4-en"] == "wrong_result"
    assert outcomes(exam, made) == {
        "hard/h1-en": "right",
        "hard/h2-en": "abstained",
        "hard/h3-en": "abstained",
        "hard/h4-en": "abstained",
        "easy/e1-en": "right",
        "easy/e2-en": "wrong_result",
    }
    assert made.header()["abstain_by"]["tier"] == "easy"
    assert made.header()["abstain_by"]["ceiling"] == pytest.approx(log(5))
    assert made.header()["model"] == f"{MODEL}+entropy"
    (run,) = asyncio.run(score(exam, made))
    assert "abstains above entropy 1.05" in asyncio.run(report(exam, made, run))


def test_a_run_without_log_probabilities_is_refused_by_name(exam, tmp_path):
    asked = answered(exam, tmp_path, {q: (text, None) for q, (text, _) in REPLIES.items()})
    made = replace(asked, path=tmp_path / "made")
    with pytest.raises(FormatError, match="without token entropies: did the route return"):
        abstain_by_entropy(exam, asked, made, TIERS, Rule("easy"))
    assert not made.path.exists()


def test_equal_entropies_have_no_threshold_and_no_run(exam, tmp_path):
    asked = answered(exam, tmp_path, {q: (text, SURE) for q, (text, _) in REPLIES.items()})
    made = replace(asked, path=tmp_path / "made")
    with pytest.raises(FormatError, match="no threshold on tier 'easy'"):
        abstain_by_entropy(exam, asked, made, TIERS, Rule("easy"))
    assert not made.path.exists()
