"""A task small enough for a test: 4 hard questions (1 unanswerable) and 2 easy ones on three tables."""

from datetime import date
from pathlib import Path

import duckdb

from database.engine import open_database
from eval.spec import open_tier, task_now
from items.freeze import load_spec, pins_of, save_spec, spec_path
from items.questions import Question, QuestionFile, draft_path, save_questions
from items.spec import Check, Prompt, Protocol, Request, Roster, Spec, Tier

TASK = "small-text2sql@0"
TABLES = """
CREATE TABLE person (person_id BIGINT, gender VARCHAR, year_of_birth INTEGER);
INSERT INTO person VALUES (1, 'F', 1950), (2, 'M', 1960), (3, 'F', 1970), (4, 'F', NULL);
CREATE TABLE visit (visit_id BIGINT, person_id BIGINT, day DATE);
INSERT INTO visit VALUES (1, 1, '2019-01-02'), (2, 1, '2019-05-01'), (3, 2, '2019-06-30');
CREATE TABLE death (person_id BIGINT, day DATE);
"""
SPEC = Spec(
    slug="small-text2sql",
    version=0,
    title="Small",
    dataset="eunomia",
    kind="text2sql",
    primary_metric="rs0",
    preview=True,
    license="none",
    split="test-only",
    instance_id="<tier>/<question id>-<lang>",
    request=Request(max_tokens=64, answer="a", messages="m", thinking="t"),
    tiers={
        "easy": Tier(
            "drafts/small-text2sql-v0.yaml",
            False,
            ("aggregation",),
            Prompt("text2sql-omop-p0"),
            "shown",
        ),
        "hard": Tier(
            "drafts/small-text2sql-hard-v0.yaml",
            True,
            ("data_quality", "unanswerable"),
            Prompt("text2sql-omop-hard-p0"),
            "headline",
        ),
    },
    metrics={"primary": "rs0"},
    baselines={"benchtoward/prior": "abstain"},
    check=Check(Roster(None, None), "hard", "10%", {"rs": "benchtoward/prior"}),
    protocol=Protocol("EHRSQL 2024", "Lee 2024", "ours", ("items",), ()),
    deviations=("d",),
    limitations=("l",),
    items_note="n",
)


def question(id: str, sql: str | None, category: str = "data_quality", **more: object) -> Question:
    """Return a question whose texts are made from its id."""
    return Question(
        id=id,
        question_ko=f"{id}은 몇 개인가요?",
        question_en=f"How many are {id}?",
        reference_sql=sql,
        answerable=sql is not None,
        category=category,
        difficulty="easy",
        scope="none",
        author="rule/small@1",
        witness=None if sql else "death",
        **more,
    )


HARD = (
    question("h1", "SELECT count(*) FROM person"),
    question("h2", "SELECT person_id, gender FROM person WHERE year_of_birth < 1970"),
    question("h3", "SELECT person_id FROM visit ORDER BY day", order_matters=True),
    question("h4", None, "unanswerable"),
)
EASY = (
    question("e1", "SELECT count(*) FROM visit", "aggregation"),
    question("e2", "SELECT gender, count(*) FROM person GROUP BY gender", "aggregation"),
)


def make(folder: Path) -> tuple[Path, Path]:
    """Write the registry and the database into a folder; returns (registry, data)."""
    registry, data = folder / "registry", folder / "data"
    data.mkdir(parents=True)
    with duckdb.connect(data / "eunomia.duckdb") as connection:
        connection.execute(TABLES)
    for tier, questions in (("hard", HARD), ("easy", EASY)):
        today = date(2019, 7, 3) if tier == "hard" else None
        file = QuestionFile("small-text2sql", tier, today, questions=questions)
        save_questions(draft_path(registry, "small-text2sql", 0, tier), file)
    save_spec(spec_path(registry, TASK), SPEC)
    return registry, data


def freeze(registry: Path, data: Path) -> None:
    """Write the pins of what stands, without a panel."""
    path = spec_path(registry, TASK)
    spec = load_spec(path)
    with open_database(data / "eunomia.duckdb") as database:
        tiers = {name: open_tier(registry, spec, name, database) for name in spec.tiers}
        pins = pins_of(spec, task_now(tiers, database), by="owner", on=date(2026, 11, 30))
    save_spec(path, Spec(**{**vars(spec), "pins": pins}))
