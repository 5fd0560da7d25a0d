"""A run for machine readers: one row an instance, as JSON-like values or as a Parquet file."""

from pathlib import Path
from typing import Any

from eval.rows import RunFolder
from eval.score import Run, sheets
from eval.text2sql import Text2Sql
from registry.canonical import canonical
from registry.files import replace


def table_of(exam: Text2Sql, folder: RunFolder, run: Run) -> list[dict[str, Any]]:
    """Return one row an instance: what it is, what was answered, what became of it."""
    rows_of = {sheet.instance.id: sheet.rows for sheet in sheets(exam, folder)}
    return [
        {
            "task": exam.task,
            "model": run.model,
            "instance": row.instance.id,
            "tier": row.instance.tier,
            "question": row.instance.cluster,
            **row.instance.labels,
            "outcome": row.outcome,
            "reason": row.reason,
            "sql": row.facts.get("sql"),
            "rows": row.facts.get("rows"),
            "elapsed_s": row.facts.get("elapsed_s"),
            "near_limit": bool(row.facts.get("near_limit")),
            **_answer(rows_of[row.instance.id]),
        }
        for row in run.scored
    ]


def write_parquet(path: Path, exam: Text2Sql, folder: RunFolder, run: Run) -> None:
    """Write the rows as Parquet; the run's header stands in the file's metadata. Raises: OSError."""
    import pyarrow
    from pyarrow import parquet

    table = pyarrow.Table.from_pylist(table_of(exam, folder, run), schema=_schema(pyarrow))
    table = table.replace_schema_metadata({"benchtoward": canonical(dict(run.header))})
    sink = pyarrow.BufferOutputStream()
    parquet.write_table(table, sink)
    replace(path, sink.getvalue().to_pybytes())


def _answer(rows: Any) -> dict[str, Any]:
    answer = rows[-1].answer if rows else None
    return {
        "reply": answer and answer.text,
        "stop": answer and answer.stop,
        "input_tokens": answer and answer.input_tokens,
        "output_tokens": answer and answer.output_tokens,
        "cost_usd": answer and answer.cost_usd,
        "latency_s": answer and answer.latency_s,
    }


def _schema(pyarrow: Any) -> Any:
    text, whole, real = pyarrow.string(), pyarrow.int64(), pyarrow.float64()
    names = [
        *("task", "model", "instance", "tier", "question", "language", "category", "difficulty"),
        *("scope", "author", "answerable", "outcome", "reason", "sql", "reply", "stop"),
    ]
    kinds = dict.fromkeys(names, text)
    kinds |= {"rows": whole, "input_tokens": whole, "output_tokens": whole}
    kinds |= {"elapsed_s": real, "cost_usd": real, "latency_s": real, "near_limit": pyarrow.bool_()}
    return pyarrow.schema(list(kinds.items()))
