"""A published leaderboard: registry/results/<task>.json and the replies it rests on (Agreements 4).

    {"task": ..., "published": "<date>", "spec_sha256": ..., "board": {...},
     "runs": [{"model": ..., "header": {...}, "replies": "<sha256>" | null,
               "rows": {"hard/h1-ko": {"key": ..., "outcome": ..., "reason": ..., "sql_sha256": ...}}}]}

Replies lie in registry/evidence/<task>/<sha256>.jsonl.gz. `check_published` reads them again: each must be
the reply to that instance's question by that model, say what the row says, and the figures must follow
from the outcomes. With the database at hand the requests are built again and the queries run again.
"""

import json
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

from eval.exam import OPEN, Exam, Instance, Prediction, Scored
from eval.leaderboard import Board, board, board_json
from eval.makers import makers
from eval.outcomes import read
from eval.rows import RunFolder
from eval.run import addressed
from eval.score import Run, sheets
from eval.text2sql import Text2Sql
from items.evidence import Reply, evidence_folder, load_replies, save_replies
from models.call import Answer
from registry.canonical import canonical, sha256_text
from registry.files import replace
from registry.reader import FormatError, not_json

READ_ALONE = ("abstained", "no_sql", "cut_off", "refused")  # outcomes that need no database


def results_path(registry: Path, task: str) -> Path:
    """Return where a task's published leaderboard lies."""
    return registry / "results" / f"{task}.json"


def publish(
    registry: Path, exam: Text2Sql, shown: Board, runs: Sequence[tuple[Run, RunFolder]]
) -> Path:
    """Write a board, its outcomes and the replies they rest on. Raises: FormatError, OSError."""
    path = results_path(registry, exam.task)
    if exam.spec.pins is None or shown.label != "exam":
        raise FormatError(path, None, "only exams on a frozen task are published")
    value = {
        "task": exam.task,
        "published": date.today().isoformat(),
        "spec_sha256": exam.spec.sha256,
        "board": board_json(shown),
        "runs": [_published(registry, exam, run, folder) for run, folder in runs],
    }
    replace(path, json.dumps(value, ensure_ascii=False, indent=1, sort_keys=True) + "\n")
    return path


async def check_published(registry: Path, exam: Text2Sql, *, database: bool) -> list[str]:
    """Return what does not follow in a published leaderboard, each as one sentence; nothing is a pass.

    database: the exam's database is the pinned one: rebuild the requests and run the queries.
    Raises: FormatError when there is no published board, or a file of replies is broken.
    """
    path = results_path(registry, exam.task)
    value = _load(path)
    if value["spec_sha256"] != exam.spec.sha256:
        return [f"it names spec {value['spec_sha256'][:12]}, the task's is {exam.spec.sha256[:12]}"]
    found: list[str] = []
    runs: list[Run] = []
    for told in value["runs"]:
        run = Run(told["model"], told["header"], _scored(exam, told))
        runs.append(run)
        if any("prediction" in row for row in told["rows"].values()):
            found.append(
                f"{run.model}: its predictions come from a file, not from replies: unverifiable"
            )
        found += _replies_say(registry, exam, told, rebuild=database)
        found += await _queries_say(exam, registry, told, run) if database else []
    again = board(exam, runs, makers=makers(registry, exam.task))
    found += _board_says(value["board"], json.loads(canonical(board_json(again))))
    return found


def _published(registry: Path, exam: Text2Sql, run: Run, folder: RunFolder) -> dict[str, Any]:
    of = {sheet.instance.id: sheet for sheet in sheets(exam, folder)}
    address = addressed(run.header["address"])
    replies: list[Reply] = []
    rows: dict[str, Any] = {}
    for row in run.scored:
        sheet = of[row.instance.id]
        first = sheet.rows[0] if sheet.rows else None
        request = exam.next_request(row.instance, ())
        if first and first.key and first.answer and request:
            decides = address(request).decides
            replies.append({"key": first.key, "request": decides, "answer": vars(first.answer)})
        sql = row.facts.get("sql")
        rows[row.instance.id] = {
            "key": first.key if first else "",
            "outcome": row.outcome,
            "reason": row.reason,
            **({"sql_sha256": sha256_text(sql)} if sql is not None else {}),
            **({"prediction": first.prediction} if first and first.prediction else {}),
        }
    name = save_replies(evidence_folder(registry, exam.task), replies) if replies else None
    return {"model": run.model, "header": dict(run.header), "replies": name, "rows": rows}


def _scored(exam: Exam, told: Mapping[str, Any]) -> tuple[Scored, ...]:
    rows = told["rows"]
    return tuple(
        Scored(i, rows[i.id]["outcome"], rows[i.id]["reason"])
        if i.id in rows
        else Scored(i, "not_asked")
        for i in exam.instances()
    )


def _replies_say(
    registry: Path, exam: Text2Sql, told: Mapping[str, Any], *, rebuild: bool
) -> list[str]:
    """Return where a run's rows are not what its replies say."""
    folder = evidence_folder(registry, exam.task)
    replies = load_replies(folder, told["replies"]) if told["replies"] else {}
    found = []
    if told["header"]["address"]["model"] != told["model"]:
        found.append(f"{told['model']}: its answers are {told['header']['address']['model']}'s")
    for id, row in told["rows"].items():
        where = f"{told['model']} {id}"
        if id not in exam.asked:
            found.append(f"{where}: the task has no such instance")
        elif "prediction" in row:
            said = Prediction(**row["prediction"])
            found += [f"{where}: {problem}" for problem in _misread(said, row, "prediction")]
        elif row["key"] not in replies:
            if row["outcome"] not in OPEN:
                found.append(f"{where}: {row['outcome']}, and no reply in the evidence says so")
        else:
            found += [
                f"{where}: {s}"
                for s in _reply_says(exam, id, row, replies[row["key"]], told, rebuild)
            ]
    return found


def _reply_says(
    exam: Text2Sql,
    id: str,
    row: Mapping[str, Any],
    reply: Reply,
    told: Mapping[str, Any],
    rebuild: bool,
) -> list[str]:
    asked, request = exam.asked[id], reply["request"]
    question = asked.item.question(asked.language)
    if request["model"] != told["header"]["address"]["model"]:
        return [f"the reply is {request['model']}'s"]
    if not request["messages"][-1]["content"].rstrip().endswith(question):
        return ["the reply answers another question"]
    if rebuild:
        now = exam.next_request(asked.instance, ())
        if now and addressed(told["header"]["address"])(now).key != row["key"]:
            return ["the reply answers another prompt than the task's"]
    answer = Answer(**reply["answer"])
    said = read(answer, abstention=asked.tier.abstention, max_tokens=exam.max_tokens)
    return _misread(said, row, "reply")


def _misread(said: Prediction, row: Mapping[str, Any], what: str) -> list[str]:
    """Return how a row is not what its reply, or its prediction from a file, says."""
    kind = "abstained" if said.kind == "abstain" else said.kind
    if kind != "sql":
        right = kind == row["outcome"]
        return [] if right else [f"the {what} reads as {kind}, the row says {row['outcome']}"]
    same = sha256_text(str(said.text)) == row.get("sql_sha256")
    return [] if same and row["outcome"] not in READ_ALONE else [f"the {what} holds another query"]


async def _queries_say(
    exam: Text2Sql, registry: Path, told: Mapping[str, Any], run: Run
) -> list[str]:
    """Return where the queries' outcomes are others when they run again."""
    folder = evidence_folder(registry, exam.task)
    replies = load_replies(folder, told["replies"]) if told["replies"] else {}
    known, given = [], []
    for row in run.scored:
        said = _said(exam, row.instance, told["rows"].get(row.instance.id, {}), replies)
        if said is not None and not row.open:
            known.append(row)
            given.append((row.instance, (said,)))
    again = await exam.outcomes(given)
    return [
        f"{run.model} {old.instance.id}: {new.outcome} when run again, the row says {old.outcome}"
        for old, new in zip(known, again, strict=True)
        if old.outcome != new.outcome
    ]


def _said(
    exam: Text2Sql, instance: Instance, row: Mapping[str, Any], replies: Mapping[str, Reply]
) -> Prediction | None:
    if "prediction" in row:
        return Prediction(**row["prediction"])
    reply = replies.get(row.get("key", ""))
    return exam.parse(instance, 0, Answer(**reply["answer"])) if reply else None


def _board_says(told: Mapping[str, Any], again: Mapping[str, Any]) -> list[str]:
    now = {entry["model"]: entry for entry in again["entries"]}
    shown = [entry["model"] for entry in told["entries"]]
    found = [f"{model} has a run and does not stand on the board" for model in now.keys() - shown]
    for entry in told["entries"]:
        derived = now.get(entry["model"], {})
        for name in ("rank", "figures", "counts", "bounds", "marks"):
            if derived.get(name) != entry[name]:
                found.append(f"{entry['model']}: its {name} do not follow from its outcomes")
    return found


def _load(path: Path) -> dict[str, Any]:
    if not path.exists():
        raise FormatError(path, None, "not published; `benchtoward leaderboard --publish` does")
    try:
        return dict(json.loads(path.read_bytes()))
    except ValueError as error:
        raise FormatError(path, *not_json(error)) from None
