"""Adopted scorers: where they come from, and the original itself when a maintainer puts it there.

Upstream code is not part of this repository. third_party/<name>/ORIGIN.yaml says which file of which
commit a rule restates:

    name: ehrsql-2024
    repository: https://github.com/glee4810/ehrsql-2024
    commit: f9e1aa02160d39e3f8df52bf5c69c5cf2e472499
    licence: CC BY 4.0
    authors: Gyubok Lee, Sunjun Kweon, Seongsu Bae, Edward Choi
    files:
      - path: scoring_program/scoring_utils.py      # in that repository
        sha256: cfd8eb05bfcfad05e6dcb7003a9508d8034180236af80153039ae58a12c159ad
        last_changed: e207f57a2d0af32b273d7ed69c37e30fa9862b68
        loaded: true                                # called when the file is here

`benchtoward vendor ehrsql-2024 --from scoring_utils.py` puts a file beside its ORIGIN after comparing
its sha256. From then on the authors' `reliability_score` and `penalize` are called for every score
(S1-091), and a test compares them with eval/reliability.py on all cases.
"""

import hashlib
import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePosixPath
from types import ModuleType

from eval import reliability
from registry.files import replace
from registry.reader import FormatError, read

THIRD_PARTY = Path(__file__).parent.parent / "third_party"
RELIABILITY = "ehrsql-2024"


@dataclass(frozen=True)
class OriginFile:
    """One file that a rule restates. `sha256` is known where the file may be loaded."""

    path: str
    sha256: str | None = None
    last_changed: str | None = None
    loaded: bool = False
    note: str = ""

    def __post_init__(self) -> None:
        if self.loaded and self.sha256 is None:
            raise ValueError(f"{self.path} is loaded, so it needs a sha256")

    @property
    def name(self) -> str:
        """Return the file's own name."""
        return PurePosixPath(self.path).name


@dataclass(frozen=True)
class Origin:
    """Where an adopted scorer comes from."""

    name: str
    repository: str
    commit: str
    licence: str
    authors: str
    files: tuple[OriginFile, ...]


@dataclass(frozen=True)
class Authors:
    """The reliability score by the authors' own code, under our signatures."""

    module: ModuleType

    def reliability_score(self, outcome: str, *, answerable: bool) -> int:
        """Return 1, 0 or -1: the outcome goes in as the two results that upstream compares."""
        real = "right" if answerable else "null"
        predicted = {"right": "right", "abstained": "null"}.get(outcome, "wrong")
        scores = self.module.reliability_score({"0": real}, {"0": predicted})
        return int(next(iter(scores.values() if isinstance(scores, dict) else scores)))

    def penalize(self, score: int, penalty: int) -> int:
        """Return one score with the penalty: upstream's mean of a list of one."""
        return round(float(self.module.penalize([score], penalty)))


@dataclass(frozen=True)
class Ours:
    """The reliability score of eval/reliability.py."""

    def reliability_score(self, outcome: str, *, answerable: bool) -> int:
        """Return 1, 0 or -1."""
        return reliability.reliability_score(outcome, answerable=answerable)

    def penalize(self, score: int, penalty: int) -> int:
        """Return one score with the penalty."""
        return reliability.penalize([score], penalty)[0]


def origins(third_party: Path = THIRD_PARTY) -> dict[str, Origin]:
    """Return every adopted scorer by name. Raises: FormatError."""
    return {path.parent.name: _origin(path) for path in sorted(third_party.glob("*/ORIGIN.yaml"))}


def vendor(name: str, source: Path, third_party: Path = THIRD_PARTY) -> Path:
    """Put an original file beside its ORIGIN and return where it lies.

    Raises: FormatError (an unknown name, or not that file), OSError.
    """
    known = {key: origin for key, origin in origins(third_party).items() if _loaded(origin)}
    if name not in known:
        raise FormatError(third_party, None, f"nothing loads {name!r}; known: {', '.join(known)}")
    content = source.read_bytes()
    (wanted,) = _loaded(known[name])
    _same(source, content, wanted, known[name])
    place = third_party / name / wanted.name
    replace(place, content)
    scorer.cache_clear()
    return place


@cache
def scorer(third_party: Path = THIRD_PARTY) -> Authors | Ours:
    """Return the authors' scorer where it was put, else ours.

    Raises: FormatError when the file there is not the original, or does not load.
    """
    origin = origins(third_party).get(RELIABILITY)
    for file in _loaded(origin) if origin else ():
        place = third_party / RELIABILITY / file.name
        if place.exists():
            _same(place, place.read_bytes(), file, origin)
            return Authors(_load(place))
    return Ours()


def _origin(path: Path) -> Origin:
    origin = read(path, Origin)
    if origin.name != path.parent.name:
        raise FormatError(path, 1, f"name is {origin.name!r}; its folder is {path.parent.name!r}")
    return origin


def _loaded(origin: Origin) -> Sequence[OriginFile]:
    return [file for file in origin.files if file.loaded]


def _same(path: Path, content: bytes, wanted: OriginFile, origin: Origin | None) -> None:
    found = hashlib.sha256(content).hexdigest()
    if found != wanted.sha256:
        where = f"{origin.repository} at {origin.commit}" if origin else "its ORIGIN"
        raise FormatError(
            path, None, f"is {found}; {wanted.path} of {where} is {wanted.sha256}: not that file"
        )


def _load(place: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"third_party_{place.stem}", place)
    assert spec is not None  # it ends in .py
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except ImportError as error:
        raise FormatError(
            place, None, f"needs {error.name}: install it, or remove the file"
        ) from None
    return module
