"""An upstream scorer is taken only by its sha256, and then called for every score (S1-091, S1-092)."""

import hashlib
import re
from fractions import Fraction

import pytest

from cli.vendor import vendor as command
from eval import vendored
from eval.reliability import penalize, reliability_score, rs
from eval.vendored import THIRD_PARTY, Authors, Ours, origins, scorer, vendor
from registry.reader import FormatError
from tests.cells import cases
from tests.test_eval_reliability import OUTCOMES, scores_of

STAND_IN = '''"""Not the original: a stand-in with its two functions, which counts its calls."""

calls = []


def reliability_score(real, predicted, return_dict=False):
    calls.append(dict(predicted))
    scores = []
    for key in real:
        right = real[key] == predicted[key]
        scores.append(1 if right else 0 if predicted[key] == "null" else -1)
    return scores


def penalize(scores, penalty):
    return sum(s * penalty if s == -1 else s for s in scores) / len(scores)
'''


@pytest.fixture
def third_party(tmp_path):
    """A third_party folder whose ORIGIN names the stand-in."""
    folder = tmp_path / "third_party" / "ehrsql-2024"
    folder.mkdir(parents=True)
    text = (THIRD_PARTY / "ehrsql-2024" / "ORIGIN.yaml").read_text()
    sha256 = hashlib.sha256(STAND_IN.encode()).hexdigest()
    known = origins()["ehrsql-2024"].files[0].sha256
    (folder / "ORIGIN.yaml").write_text(text.replace(known, sha256))
    scorer.cache_clear()
    yield folder.parent
    scorer.cache_clear()


@pytest.fixture
def stand_in(tmp_path):
    path = tmp_path / "scoring_utils.py"
    path.write_text(STAND_IN)
    return path


def test_what_is_adopted_is_named_with_its_commit_and_licence():
    """S1-092."""
    known = origins()
    assert set(known) == {"ehrsql", "ehrsql-2024", "test-suite-sql-eval"}
    adopted = known["ehrsql-2024"]
    assert adopted.commit == "f9e1aa02160d39e3f8df52bf5c69c5cf2e472499"
    assert adopted.licence == "CC BY 4.0"
    (file,) = adopted.files
    assert file.sha256 == "cfd8eb05bfcfad05e6dcb7003a9508d8034180236af80153039ae58a12c159ad"
    assert file.last_changed == "e207f57a2d0af32b273d7ed69c37e30fa9862b68"


def test_another_file_is_refused_and_nothing_is_written(third_party, tmp_path):
    other = tmp_path / "other.py"
    other.write_text("penalize = None")
    with pytest.raises(FormatError, match="not that file"):
        vendor("ehrsql-2024", other, third_party)
    assert [path.name for path in (third_party / "ehrsql-2024").iterdir()] == ["ORIGIN.yaml"]


def test_an_unknown_name_is_refused(third_party, stand_in):
    with pytest.raises(FormatError, match=r"nothing loads 'spider'; known: ehrsql-2024"):
        vendor("spider", stand_in, third_party)


def test_without_the_original_ours_is_called(third_party):
    assert isinstance(scorer(third_party), Ours)


def test_the_original_is_called_once_it_is_there(third_party, stand_in):
    place = vendor("ehrsql-2024", stand_in, third_party)
    assert place.read_text() == STAND_IN
    authors = scorer(third_party)
    assert isinstance(authors, Authors)
    assert authors.reliability_score("sql_error", answerable=False) == -1
    assert authors.module.calls == [{"0": "wrong"}]


def test_a_file_that_changed_since_is_refused(third_party, stand_in):
    place = vendor("ehrsql-2024", stand_in, third_party)
    place.write_text(STAND_IN + "\n")
    with pytest.raises(FormatError, match="not that file"):
        scorer(third_party)


def test_a_file_that_needs_what_is_not_installed_says_so(third_party, tmp_path, monkeypatch):
    place = third_party / "ehrsql-2024" / "scoring_utils.py"
    place.write_text("import no_such_package")
    monkeypatch.setattr(vendored, "_same", lambda *_: None)
    with pytest.raises(FormatError, match="needs no_such_package"):
        scorer(third_party)


def agree(authors):
    """The authors' scorer and ours, on every kind of outcome and all shared cases."""
    for outcome, answerable in OUTCOMES.values():
        ours = reliability_score(outcome, answerable=answerable)
        assert authors.reliability_score(outcome, answerable=answerable) == ours
        for penalty in (0, 1, 5, 10, 202):
            assert authors.penalize(ours, penalty) == penalize([ours], penalty)[0]
    for case in cases("reliability.json")["cases"]:
        scores = scores_of(case["outcomes"])
        for c in (0, 5, 10, case["n"]):
            if scores:
                theirs = authors.module.penalize(scores, c)
                assert theirs == pytest.approx(float(rs(scores, c) or Fraction(0)), abs=1e-9)


def test_the_stand_in_agrees_with_ours(third_party, stand_in):
    vendor("ehrsql-2024", stand_in, third_party)
    agree(scorer(third_party))


@pytest.mark.skipif(
    not (THIRD_PARTY / "ehrsql-2024" / "scoring_utils.py").exists(),
    reason="the original is not here: `benchtoward vendor ehrsql-2024 --from FILE`",
)
def test_the_original_agrees_with_ours():
    authors = scorer()
    assert isinstance(authors, Authors)
    agree(authors)
    for case in cases("reliability.json")["string_cases"]:
        given = {"0": case["real_result"]}, {"0": case["pred_result"]}
        assert list(authors.module.reliability_score(*given)) == [case["score"]]


def test_the_command_refuses_another_file(stand_in):
    with pytest.raises(FormatError, match="not that file"):
        command("ehrsql-2024", stand_in)


def test_every_adopted_source_has_its_page_and_its_modules():
    """S3-020, S3-021: what was found in each, and what is done about it here."""
    page = (THIRD_PARTY.parent / "docs" / "adopted.md").read_text(encoding="utf-8")
    assert re.findall(r"^## ([\w-]+):", page, re.MULTILINE) == [
        "ehrsql-2024", "ehrsql", "test-suite-sql-eval"
    ]  # fmt: skip
    assert set(re.findall(r"^## ([\w-]+):", page, re.MULTILINE)) == set(origins())
    for module in set(re.findall(r"`((?:eval|database|benchmarks)/\w+\.py)`", page)):
        assert (THIRD_PARTY.parent / module).exists()
