"""Events, verdicts and results as lines for a terminal: a stranger's text cannot move the cursor."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from items.questions import Question
    from registry.events import Event

CELL, ROWS = 40, 12
QUIET = ("item", "tried", "draft")  # shown by their fields


def plain(text: str) -> str:
    """Return a text in one line, control codes shown as question marks."""
    return "".join(c if c.isprintable() else " " if c.isspace() else "?" for c in text)


def plain_lines(text: str) -> str:
    """Return a text with its lines as they are, control codes shown as question marks."""
    return "\n".join(plain(line) for line in text.split("\n"))


def sentence(error: Exception) -> str:
    """Return an error as one sentence; the system's own without its number: `file: what is wrong`."""
    if isinstance(error, OSError) and error.filename and error.strerror:
        return f"{error.filename}: {error.strerror.lower()}"
    return str(error)


def event_lines(event: "Event") -> list[str]:
    """Return what an event says, as lines."""
    body = event.body
    if event.kind in ("verdict", "trial"):
        seeded = (
            [f"seeded error {body['error']}: {plain(body['change'])}"] if "error" in body else []
        )
        return [*seeded, *verdict_lines(event)]
    lines = [
        f"{name}: {plain(str(value))}"
        for key in QUIET
        for name, value in (body.get(key) or {}).items()
        if value is not None
    ]
    lines += [plain(str(problem)) for problem in body.get("problems", ())]
    lines += [f"{plain(p['sql'])} -> {plain(p['saw'])[:80]}" for p in body.get("probes") or ()]
    act = [f"{name}: {plain(str(body[name]))}" for name in ("act", "rule") if name in body]
    return act + lines + ([plain(body["reason"])] if body.get("reason") else [])


def item_lines(question: "Question") -> list[str]:
    """Return an item's fields as lines."""
    item = question.item
    lines = [
        f"{question.id}  {item.category}, {item.difficulty}, {item.scope}; by {plain(question.author)}"
    ]
    lines += [plain(item.question_ko), plain(item.question_en)]
    lines += [f"    {plain(line)}" for line in (item.reference_sql or "").split("\n") if line]
    return lines + ([f"unanswerable: {plain(item.witness)}"] if item.witness else [])


def verdict_lines(event: "Event") -> list[str]:
    """Return one seat's verdict as lines."""
    body = event.body
    said = body.get("verdict") or f"no verdict ({plain(str(body.get('problem', '')))})"
    commit = body.get("commit")
    own = f"; its own answer {'matches' if commit['matches'] else 'differs'}" if commit else ""
    again = ", asked again" if body.get("repeat") else ""
    where = f"round {body.get('round', 1)}, seat {body['seat']}{again} ({plain(event.by)})"
    lines = [f"{where}: {plain(said)}{own}"]
    for issue in body.get("issues", ()):
        shown = f" [{plain(issue['evidence'])}]" if issue["evidence"] else ""
        lines.append(f"    {issue['kind']}: {plain(issue['sentence'])}{shown}")
    return lines


def side_by_side(results: dict[str, list[str]]) -> list[str]:
    """Return results as columns of text: the names, then a row of each a line."""
    width = {name: max(map(len, [name, *rows])) for name, rows in results.items()}
    deepest = max((len(rows) for rows in results.values()), default=0)
    lines = ["  ".join(name.ljust(width[name]) for name in results)]
    for number in range(deepest):
        cells = [rows[number] if number < len(rows) else "" for rows in results.values()]
        lines.append("  ".join(c.ljust(w) for c, w in zip(cells, width.values(), strict=True)))
    return [line.rstrip() for line in lines]


def result_lines(outcome: Any) -> list[str]:
    """Return a result as a column of short lines, or why there is none."""
    from database.result import Failure

    if isinstance(outcome, Failure):
        return [plain(f"{outcome.reason}: {outcome.message}")[:CELL]]
    shown = [plain(" | ".join(map(str, row)))[:CELL] for row in outcome.rows[:ROWS]]
    more = len(outcome.rows) - ROWS
    head = plain(" | ".join(outcome.columns))[:CELL]
    return [head, *shown, *([f"({more} more)"] if more > 0 else [])]
