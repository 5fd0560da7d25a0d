"""A run's page: it opens from disk alone, says what happened, and nothing in it is obeyed."""

import asyncio
import json
import re
import shutil
import subprocess

import pytest

from database.engine import open_database
from eval.export import table_of, write_parquet
from eval.report import report
from eval.sides import cell, plain
from eval.spec import open_task
from eval.take import Options, take
from eval.text2sql import Text2Sql
from tests import small

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
WRONG = "SELECT gender, person_id FROM person -- <script>alert('x')</script> \u202e"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    registry, data = small.make(folder)
    small.freeze(registry, data)
    answers = {"hard/h1": "SELECT 4", "hard/h2": WRONG, "hard/h3": "SELECT person FROM visit",
               "hard/h4": None, "easy/e1": "SELECT 3", "easy/e2": "SELECT 1"}  # fmt: skip
    file = folder / "a.json"
    file.write_text(
        json.dumps({f"{id}-{lang}": sql for id, sql in answers.items() for lang in ("ko", "en")})
    )
    with open_database(data / "eunomia.duckdb") as database:
        exam = Text2Sql(open_task(registry, small.TASK, database))
        options = Options("x/<b>bold</b>-1b", predictions=file)
        taken = asyncio.run(take(exam, registry, folder / "runs", options))
        page = asyncio.run(report(exam, taken.folder, taken.run))
        yield page, exam, taken, folder


@pytest.fixture
def page(made):
    return made[0]


def test_the_page_needs_no_network_and_no_script(page):
    assert "<script" not in page
    assert not re.search(r"(src|href)\s*=", page)
    assert "default-src 'none'" in page


def test_what_a_model_says_is_text(page):
    assert "<b>bold</b>" not in page
    assert "x/&lt;b&gt;bold&lt;/b&gt;-1b" in page
    assert "&lt;script&gt;alert(&#39;x&#39;)" in page
    assert "\u202e" not in page
    assert "⟨U+202E⟩" in page


def test_every_item_shows_both_questions_the_reference_and_each_answer(page):
    for question in small.HARD + small.EASY:
        assert question.question_ko in page
        assert question.question_en in page
    assert page.count("Answer to the Korean question") == 6
    assert "Unanswerable: ABSTAIN is right (death holds nothing)." in page
    assert "the spec" not in page


def test_differing_rows_stand_side_by_side(page):
    assert "4 rows where the reference has 2" in page
    assert '<td class="off">3</td>' in page


def test_scores_and_outcomes_have_intervals_and_counts(page):
    assert "0.500" in page
    assert "hard tier, 8 instances" in page
    assert page.count("<svg") > 10


def test_a_cell_names_null_and_cuts_long_texts():
    assert cell(None) == "NULL"
    assert cell("x" * 500).endswith("x …")
    assert plain("a\x1b[31mb\nc") == "a⟨U+001B⟩[31mb\nc"


def test_a_run_is_one_row_an_instance_for_programs(made):
    _, exam, taken, folder = made
    rows = table_of(exam, taken.folder, taken.run)
    assert [row["instance"] for row in rows] == [i.id for i in exam.instances()]
    write_parquet(folder / "run.parquet", exam, taken.folder, taken.run)
    from pyarrow import parquet

    table = parquet.read_table(folder / "run.parquet")
    assert table.column("outcome").to_pylist() == [row["outcome"] for row in rows]
    assert json.loads(table.schema.metadata[b"benchtoward"])["task"] == small.TASK


def screenshot(path, html):
    """Return a page's pixels in headless Chromium: (height, width, 3 or 4)."""
    import numpy
    from PIL import Image

    path.with_suffix(".html").write_text(html)
    command = [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
               "--window-size=1100,7000", f"--user-data-dir={path.parent / 'profile'}",
               f"--screenshot={path}", path.with_suffix(".html").as_uri()]  # fmt: skip
    subprocess.run(command, check=True, capture_output=True, timeout=120)
    return numpy.asarray(Image.open(path))


@pytest.mark.skipif(not CHROMIUM, reason="no chromium: apt-get install chromium fonts-noto-cjk")
def test_the_page_renders_in_a_browser(page, tmp_path):
    """Scores, bars and the marked cells are really there to see, once the items are opened."""
    pixels = screenshot(tmp_path / "page.png", page.replace("<details", "<details open"))
    seen = {tuple(map(int, p[:3])) for p in pixels[::2, ::2].reshape(-1, pixels.shape[2])}
    assert (0xFD, 0xE2, 0xE0) in seen  # a cell that differs
    assert (0x2B, 0x8A, 0x5F) in seen  # the bar of right answers
    assert (0x1F, 0x4E, 0x8C) in seen  # a point with its interval


@pytest.mark.skipif(not CHROMIUM, reason="no chromium: apt-get install chromium fonts-noto-cjk")
def test_korean_renders(page, tmp_path):
    """Two words of equal length look different: neither is a row of empty boxes."""
    style = page[page.index("<style>") : page.index("</style>")]
    shots = [
        screenshot(tmp_path / f"{n}.png", f"<meta charset=utf-8>{style}</style><p>{word}</p>")
        for n, word in enumerate(("환자", "개월"))
    ]
    assert (shots[0] != shots[1]).any()
