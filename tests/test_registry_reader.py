"""The strict reader: the dataclass is the schema, and each mistake names its file and line."""

from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Literal

import pytest

from registry.reader import FormatError, read, read_text
from registry.writer import to_yaml


@dataclass(frozen=True)
class Seat:
    id: str
    kind: Literal["model", "rule"]
    weight: float = 1.0


@dataclass(frozen=True)
class Panel:
    name: str
    since: date
    seats: tuple[Seat, ...]
    note: str | None = None
    limits: dict[str, int] | None = None

    def __post_init__(self) -> None:
        if not self.seats:
            raise ValueError("a panel without seats; at least one is needed")


GOOD = """\
name: source
since: 2026-10-30
seats:
  - id: a
    kind: model
  - id: b
    kind: rule
    weight: 2
"""


def test_a_file_becomes_a_frozen_dataclass(tmp_path):
    (tmp_path / "panel.yaml").write_text(GOOD)
    panel = read(tmp_path / "panel.yaml", Panel)
    assert panel == Panel(
        "source", date(2026, 10, 30), (Seat("a", "model"), Seat("b", "rule", 2.0))
    )


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        pytest.param(GOOD + "colour: red\n", 9, "unknown key 'colour'", id="an unknown key"),
        pytest.param(
            GOOD.replace("name: source\n", ""), 1, "missing key 'name'", id="a missing key"
        ),
        pytest.param(GOOD + "name: again\n", 9, "repeated key 'name'", id="a repeated key"),
        pytest.param(GOOD.replace("id: b", "id: a"), 6, "duplicate id 'a'", id="a duplicate id"),
        pytest.param(
            GOOD.replace("kind: rule", "kind: vote"), 7, "one of model, rule", id="a wrong choice"
        ),
        pytest.param(
            GOOD.replace("weight: 2", "weight: heavy"), 8, "expected a number", id="a wrong type"
        ),
        pytest.param(
            GOOD.replace("weight: 2", "weight: true"),
            8,
            "expected a number",
            id="true is no number",
        ),
        pytest.param(
            GOOD.replace("2026-10-30", "October"), 2, "expected a date", id="a word for a date"
        ),
        pytest.param(
            "name: x\nsince: 2026-10-30\nseats: []\n", 1, "at least one", id="a rule of its own"
        ),
        pytest.param("name: [\n", 2, "not YAML", id="broken YAML"),
        pytest.param("- 1\n", 1, "expected keys and values", id="a list for a mapping"),
        pytest.param("? [a]\n: 1\n", 1, "a key", id="a list for a key"),
        pytest.param("", 1, "empty file", id="nothing at all"),
        pytest.param(
            GOOD + "limits: {rows: many}\n", 9, "expected a whole number", id="inside a mapping"
        ),
        pytest.param(GOOD + "note: 2026-02-31\n", 9, "cannot be read", id="a day that is not"),
    ],
)
def test_a_mistake_names_its_line(text, line, problem):
    with pytest.raises(FormatError) as error:
        read_text(text, Panel, Path("panel.yaml"))
    assert error.value.line == line
    assert problem in str(error.value)
    assert str(error.value).startswith(f"panel.yaml:{line}: ")


def test_bytes_that_are_not_utf8_are_refused(tmp_path):
    (tmp_path / "panel.yaml").write_bytes(b"name: \xff\xfe\n")
    with pytest.raises(FormatError, match=r"UTF-8|not YAML"):
        read(tmp_path / "panel.yaml", Panel)


def test_what_is_written_reads_back_the_same():
    panel = Panel("x", date(2026, 1, 1), (Seat("a", "model"),), note="SELECT 1\nFROM person")
    assert read_text(to_yaml(panel), Panel, Path("x")) == panel
    assert "note: |-\n" in to_yaml(panel)
    assert "weight" not in to_yaml(panel)
