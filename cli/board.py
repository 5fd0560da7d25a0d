"""How runs and their figures are printed: a table for people, plain values for programs."""

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from eval.leaderboard import Board
    from eval.statistics import Figure

SHOWN = ("rs0", "ex", "rs5", "rsN")
TITLES = {"rs0": "RS(0)", "rs5": "RS(5)", "rs10": "RS(10)", "rsN": "RS(N)", "ex": "EX"}


def print_json(value: Any) -> None:
    """Print one JSON document."""
    print(json.dumps(value, ensure_ascii=False, indent=1))


def print_board(board: "Board") -> None:
    """Print the board as tables: scores with intervals, then what became of the answers."""
    from rich.box import SIMPLE
    from rich.table import Table
    from rich.text import Text

    marks = " (preview)" if board.preview else ""
    marks += {"exam": "", "dry": " (dry runs)", "diagnostic": " (diagnostic)"}[board.label]
    scores = Table(title=f"{board.task}{marks}", title_justify="left", box=SIMPLE)
    columns = columns_of(board)
    for name in ("rank", "model", *(f"{tier} {TITLES.get(n, n)}" for tier, n in columns)):
        scores.add_column(name, justify="left" if name == "model" else "right")
    for entry in board.entries:
        cells = [figure_text(entry.figures.get(column)) for column in columns]
        if entry.bounds:
            cells[0] = f"{entry.bounds[0]:.3f} to\n{entry.bounds[1]:.3f}"
        shown = Text("\n".join([entry.model, ", ".join(entry.marks)]).strip())
        scores.add_row(str(entry.rank or "-"), shown, *cells)
    console = wide_console()
    console.print(scores)
    for tier in dict.fromkeys(tier for entry in board.entries for tier in entry.counts):
        console.print(_outcomes(board, tier))
    for line in tied(board):
        print(line)


def tied(board: "Board") -> list[str]:
    """Return what the ranks do not say: who cannot be told apart, and what the tier can show."""
    lines = [
        f"not told apart ({board.primary}): {', '.join(group)}"
        for group in board.groups
        if len(group) > 1
    ]
    if board.smallest:
        lines.append(
            f"smallest difference that this tier shows with 80% power: {board.smallest:.3f}"
        )
    return lines


def wide_console() -> Any:
    """Return where tables go: as wide as the terminal, or 160 columns where there is none."""
    from sys import stdout

    from rich.console import Console

    return Console() if stdout.isatty() else Console(width=160)


def columns_of(board: "Board") -> list[tuple[str, str]]:
    """Return the (tier, metric) columns of a board: the primary metric first."""
    found = dict.fromkeys(key for entry in board.entries for key in entry.figures)
    shown = [key for key in found if key[1] in SHOWN or key[1] == board.primary]
    return sorted(shown, key=lambda key: key[1] != board.primary) or [("", board.primary)]


def figure_text(figure: "Figure | None") -> str:
    """Return a figure as `0.596` above its interval, `0.510..0.676`."""
    if figure is None or figure.value is None:
        return "-"
    if figure.low is None or figure.high is None:
        return f"{figure.value:.3f}"
    return f"{figure.value:.3f}\n{figure.low:.3f}..{figure.high:.3f}"


def _outcomes(board: "Board", tier: str) -> Any:
    from rich.box import SIMPLE
    from rich.table import Table
    from rich.text import Text

    kinds = list(dict.fromkeys(k for e in board.entries for k in e.counts.get(tier, {})))
    table = Table(title=f"{tier}: outcomes", title_justify="left", box=SIMPLE)
    for name in ("model", *kinds, "all"):
        table.add_column(name.replace("_", " "), justify="left" if name == "model" else "right")
    for entry in board.entries:
        counts = entry.counts.get(tier, {})
        cells = [str(counts.get(kind, 0)) for kind in kinds]
        table.add_row(Text(entry.model), *cells, str(sum(counts.values())))
    return table


def in_words(figure: "Figure | None") -> str:
    """Return a figure as `0.25 (0.10 to 0.40); `."""
    if figure is None or figure.value is None:
        return ""
    if figure.low is None or figure.high is None:
        return f"{figure.value:.3f}; "
    return f"{figure.value:.3f} ({figure.low:.3f} to {figure.high:.3f}); "
