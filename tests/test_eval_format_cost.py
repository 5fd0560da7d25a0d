"""What the format cost is shown beside the score and never moves it."""

import asyncio

from eval.format_cost import format_cost
from eval.report import report
from eval.score import score
from tests.test_eval_abstain import MODEL, answered, exam

__all__ = ["exam"]
REPLIES = {
    "h1": ("SQLQuery: SELECT count(*) FROM person", None),
    "h2": ("I do not know.", None),
    "h3": ("```sql\nSELECT person_id FROM visit ORDER BY day\n```", None),
    "h4": ("Answer: ABSTAIN", None),
    "e1": ("Use `SELECT 1`.", None),
    "e2": ("Answer: ABSTAIN", None),
}


def test_format_failures_are_read_once_more_beside_the_score(exam, tmp_path):
    folder = answered(exam, tmp_path, REPLIES)
    assert folder.path.name == MODEL.replace("/", "--")
    (run,) = asyncio.run(score(exam, folder))
    before = (folder.path / "scored.jsonl").read_bytes()
    cost = asyncio.run(format_cost(exam, folder, run))
    found = {one.instance: one.outcome for one in cost.forgiven if one.instance.endswith("en")}
    assert found == {"hard/h1-en": "right", "hard/h4-en": "abstained", "easy/e1-en": "wrong_result"}
    assert cost.strict[("hard", "rs0")].value == 1 / 4
    assert cost.lenient[("hard", "rs0")].value == 3 / 4
    assert cost.lenient[("easy", "ex")].value == 0.0
    assert (folder.path / "scored.jsonl").read_bytes() == before
    page = asyncio.run(report(exam, folder, run))
    assert "6 answers hold neither SQL nor ABSTAIN by the rule" in page
