"""The rules of the source: one admitted SELECT, 1 to 1,000 rows with something in them, no clock."""

from collections.abc import Iterator
from decimal import Decimal
from math import isnan

import sqlglot
from sqlglot import exp

from database.functions import WORDS_CLOCK
from database.result import Failure
from items.model import untidy
from items.rules.base import TIME_S, Case, Found, rule

MOST_ROWS = 1_000  # S1-058
CLOCKS = {
    "age", "current_date", "current_localtime", "current_localtimestamp", "current_time",
    "current_timestamp", "get_current_time", "get_current_timestamp", "getdate", "localtime",
    "localtimestamp", "now", "sysdate", "systimestamp", "today", "transaction_timestamp", "uuidv7",
}  # fmt: skip
DICE = {
    "gen_random_uuid", "nextval", "rand", "random", "reservoir_quantile", "setseed", "uuid",
}  # fmt: skip
CLOCK_TEXTS = {"today", "now", "yesterday", "tomorrow"}
BARE_AGE = 1  # age(x) counts from today; age(x, y) does not


@rule("problem", source="DESIGN, Agreements 2")
def tidy_texts(case: Case) -> Iterator[Found | str]:
    """Texts are NFC without trailing white space, so that equal texts have equal hashes."""
    names = untidy(case.item)
    yield "every text field of the item"
    if names:
        yield Found(
            f"{', '.join(names)}: not NFC, or white space at the end; `check --fix` mends it"
        )


@rule("problem", source="S1-049, S1-060")
def complete(case: Case) -> Iterator[Found | str]:
    """An answerable item has both questions and a reference, an unanswerable one a witness."""
    item = case.item
    yield f"answerable: {item.answerable}"
    for name in ("question_ko", "question_en"):
        if not getattr(item, name).strip():
            yield Found(f"{name} is empty")
    if item.answerable and not (item.reference_sql or "").strip():
        yield Found("answerable without a reference_sql")
    if item.answerable and item.witness is not None:
        yield Found(f"answerable, yet it names a witness: {item.witness!r}")
    if not item.answerable and item.reference_sql is not None:
        yield Found("unanswerable items have no reference_sql (S1-060)")


@rule("problem", source="S1-056, S1-057; bird-bench/mini_dev#46; AlibabaResearch/DAMO-ConvAI#65")
def runs(case: Case) -> Iterator[Found | str]:
    """The reference is exactly one SELECT that the gate admits and that ends within 3 seconds."""
    if isinstance(case.result, Failure):
        if case.result.reason != "lost":  # `answered` says so
            yield Found(f"{case.result.reason}: {case.result.message}")
    elif case.result is not None:
        yield f"{len(case.result.rows)} rows in {case.result.elapsed_s:.2f} s"
        if case.result.elapsed_s > TIME_S:
            yield Found(f"took {case.result.elapsed_s:.1f} s; at most {TIME_S:.0f} s")


@rule("warning", source="FACTS §1: sqlglot is lint, the engine decides what runs")
def readable(case: Case) -> Iterator[Found | str]:
    """The rules that read SQL can read the reference; else their silence says nothing."""
    if case.rows is None:
        return
    yield "parsed, qualified, run again" if case.query else "not readable"
    if case.query is None:
        yield Found(
            "sqlglot cannot read this reference, or reads it differently: the rules on ties, counts, NULLs, "
            "dates and the like could not look at it; write it more plainly, or review it by hand"
        )


@rule("problem", source="S1-011, S1-017, S1-058; GoogleCloudPlatform/evalbench#326")
def returns_rows(case: Case) -> Iterator[Found | str]:
    """1 to 1,000 rows that are not all zero or NULL, so that SELECT 0 scores 0."""
    if case.result is None or isinstance(case.result, Failure):
        return
    rows = case.result.rows
    yield f"{len(rows)} rows"
    if not 1 <= len(rows) <= MOST_ROWS:
        yield Found(f"{len(rows)} rows; a reference returns 1 to {MOST_ROWS:,}")
    elif all(_empty(cell) for row in rows for cell in row):
        yield Found(
            "every value is zero or NULL once rounded to 3 decimals: SELECT 0 could score on it",
            evidence=f"first row: {rows[0]!r}",
        )


@rule("problem", source="S1-059; ByteDance-Seed/DAComp#6; bird-bench/BIRD-Interact#12")
def clock(case: Case) -> Iterator[Found | str]:
    """No clock and no dice: the answer must not change with the day or the draw."""
    yield "functions, bare keywords and date texts"
    for name in sorted(set(_moving(case.item.reference_sql))):
        yield Found(f"{name} changes from run to run; write the date itself (the tier has a today)")


@rule("problem", source="DESIGN, Agreements 7: a failure of our worker is never a verdict")
def answered(case: Case) -> Iterator[Found | str]:
    """Every query of the gate was answered; what a lost worker left open is asked again next time."""
    yield f"{len(case.unanswered)} queries without an answer"
    if case.unanswered:
        told = "\n".join(dict.fromkeys(case.unanswered))
        yield Found("could not be checked: run the check again", evidence=told)


def _empty(cell: object) -> bool:
    """Whether the comparison takes a cell for NULL or for 0 (text that is a number counts)."""
    if cell is None:
        return True
    if isinstance(cell, str):
        try:
            cell = Decimal(cell.strip())
        except ArithmeticError:
            return False
    if isinstance(cell, (bool, int, float, Decimal)):
        number = float(cell)
        return not isnan(number) and round(number, 3) == 0
    return False


def _moving(sql: str | None) -> Iterator[str]:
    try:
        trees = sqlglot.parse(sql or "", dialect="duckdb")
    except sqlglot.errors.SqlglotError:
        return  # `runs` says why; the gate refuses clocks on the engine's own tree
    for tree in trees:
        for node in tree.walk() if tree else ():
            name = _called(node)
            if name == "age" and len(list(node.iter_expressions())) > BARE_AGE:
                continue
            if name in CLOCKS | DICE:
                yield name
            if isinstance(node, exp.Literal) and node.is_string:
                text = node.this.strip().lower()
                if text in CLOCK_TEXTS and isinstance(node.parent, exp.Cast):
                    yield repr(text)
            if isinstance(node, exp.TableSample):
                yield "a sample"


def _called(node: exp.Expr) -> str:
    if isinstance(node, exp.Anonymous):
        return str(node.this).lower()
    if isinstance(node, exp.Func):
        return node.sql_name().lower()
    bare = isinstance(node, exp.Column) and not node.table
    # `ORDER BY age` is a column; only these words are a clock without parentheses.
    return node.name.lower() if bare and node.name.lower() in WORDS_CLOCK else ""
