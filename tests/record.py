"""Record what a real model says to authors, reviewers, voters and the exam: `make record`.

    python -m tests.record                                       ask the server of the `local` route
    python -m tests.record --server http://127.0.0.1:9000/v1     or another one on loopback
    python -m tests.record --weights qwen2.5-coder-1.5b.gguf     or serve this file ourselves

The whole line is run on Eunomia with one model in every seat, at most 60 calls, under 25 minutes on two
cores. tests/recordings/<name>/ then holds

    calls.jsonl.gz   every answered call, as `benchtoward ledger export` writes it
    prompts/         the prompt files it was recorded with: a replay uses these, so that nobody fears to
                     improve a prompt
    registry/        where it started from; evidence that voters saw included
    about.yaml       when, with which model, and how each command ended

tests/test_recording.py replays it in every `make test`.
"""

import argparse
import asyncio
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

import yaml

from cli.demo import TASK, prepare
from database.eunomia import fetch
from items.questions import load_questions, save_questions
from models.embedded import Embedded
from models.export import calls as exported
from models.export import write_calls
from registry.canonical import sha256_text
from registry.events import load

ROOT = Path(__file__).parent.parent
RECORDINGS = Path(__file__).parent / "recordings"
MODEL = "qwen/qwen2.5-coder-1.5b-instruct"
SERVER = "http://127.0.0.1:8081/v1"  # of the route `local` in registry/models.yaml
MOST_CALLS = 60
DECISIONS = ("headline_metric", "output_format")
# Each command with the calls it may make: a call costs a dollar in the recording's registry.
STEPS = (
    ("text2sql hard-generate --count 3 --roster local", 14),
    ("text2sql check", 0),
    ("text2sql llm-review --roster local", 16),
    ("text2sql hard-review --roster local", 8),
    ("text2sql llm-fix --roster local", 8),
    ("text2sql llm-decide --roster local", 6),
    (f"eval-text2sql --model {MODEL} --limit 2 --dry-run", 8),
)
EASY_ITEMS = 1  # of the easy file goes before the panel
CARD = """\
models:
  - id: {model}
    vendor: Alibaba
    open: true
    context: 16384
    output_limit: 768
    routes:
      - name: local
        litellm: openai/qwen2.5-coder-1.5b
        api_base: {server}
        request: {{cache_prompt: true}}
        concurrency: 1
        prices:
          - {{since: 2026-01-01, source: so that --budget counts calls, input: 0.0, output: 0.0, call: 1.0}}
"""


def main() -> None:
    """Record, then write the recording."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    source = parser.add_mutually_exclusive_group()
    source.add_argument("--weights", type=Path, help="a GGUF file; served on a free loopback port")
    source.add_argument("--server", default=SERVER, help="api_base of a server on loopback")
    parser.add_argument("--into", type=Path, default=RECORDINGS / "qwen2.5-coder-1.5b")
    options = parser.parse_args()
    if not options.weights:
        require_server(options.server)
    asyncio.run(record(options.weights, options.server, options.into))


def require_server(api_base: str) -> None:
    """End with a clear sentence where nobody listens."""
    place = urlsplit(api_base)
    try:
        socket.create_connection((place.hostname, place.port or 80), timeout=5.0).close()
    except OSError as error:
        raise SystemExit(
            f"no server at {api_base} ({error}): start one that serves {MODEL}, or give --weights FILE"
        ) from None


async def record(weights: Path | None, server: str, into: Path) -> None:
    """Run every step against the server and keep what was said."""
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        async with _served(weights, server) as address:
            begin(work, address)
            keep_start(work, into)
            ended = {step: await asyncio.to_thread(run, step, most, work) for step, most in STEPS}
        keep(work, into, ended, time.monotonic() - started)


def begin(work: Path, server: str) -> None:
    """Make the registry and the database that a recording, or its replay, starts from."""
    prepare(ROOT / "registry", work / "registry")
    for path in (work / "registry" / "decisions").glob("*.yaml"):
        if path.stem not in DECISIONS:
            path.unlink()
    (work / "registry" / "models.yaml").write_text(CARD.format(model=MODEL, server=server))
    easy = work / "registry" / "drafts" / f"{TASK}-v0.yaml"
    file = load_questions(easy)
    save_questions(easy, replace(file, questions=file.questions[:EASY_ITEMS]))
    rosters = yaml.safe_load((ROOT / "registry" / "rosters.yaml").read_text())["rosters"]
    local = [roster for roster in rosters if roster["id"] == "local"]
    (work / "registry" / "rosters.yaml").write_text(yaml.safe_dump({"rosters": local}))
    fetch(work / "data" / "eunomia.duckdb")


def run(step: str, most_calls: int, work: Path) -> int:
    """Run one command; returns its exit code (3: the calls it may make were used up)."""
    print(f"benchtoward {step}", flush=True)
    command = [sys.executable, "-m", "cli", *arguments(step, most_calls, work)]
    return subprocess.run(command, check=False, cwd=ROOT).returncode


def arguments(step: str, most_calls: int, work: Path) -> list[str]:
    """Return a step's command line; a replay uses the same."""
    places = ("--data", work / "data", "--registry", work / "registry", "--runs", work / "runs")
    budget = ["--budget", str(most_calls)] if most_calls else []
    return [*step.split(), *map(str, places), *budget]


def keep_start(work: Path, into: Path) -> None:
    """Keep what a replay starts from."""
    shutil.rmtree(into, ignore_errors=True)
    shutil.copytree(ROOT / "prompts", into / "prompts", ignore=_not_markdown)
    shutil.copytree(work / "registry", into / "registry", ignore=shutil.ignore_patterns(".*"))


def keep(work: Path, into: Path, ended: dict[str, int], took_s: float) -> None:
    """Write the calls and what is known about them."""
    made = [_without_price(call) for call in exported(work / "runs" / "ledger.sqlite")]
    if len(made) > MOST_CALLS:
        raise SystemExit(f"{len(made)} calls were made; a recording has at most {MOST_CALLS}")
    write_calls(made, into / "calls.jsonl.gz")
    evidence = work / "registry" / "evidence"
    if evidence.exists():
        shutil.copytree(evidence, into / "registry" / "evidence", dirs_exist_ok=True)
    about = {
        "recorded": time.strftime("%Y-%m-%d", time.gmtime()),
        "model": MODEL,
        "calls": len(made),
        "minutes": round(took_s / 60, 1),
        "prompts_sha256": sha256_text("".join(sorted(p.read_text() for p in into.rglob("*.md")))),
        "ended": ended,
        "events": events(work / "registry"),
    }
    (into / "about.yaml").write_text(yaml.safe_dump(about, sort_keys=False))
    print(f"{into}: {len(made)} calls in {took_s / 60:.1f} minutes")


def events(registry: Path) -> list[list[str]]:
    """Return what stands in the records that rests on a call: file, kind, item, the call's key."""
    return [
        [path.stem, event.kind, event.item or "", event.call]
        for path in sorted((registry / "records").glob("*.jsonl"))
        for event in load(path)
        if event.call
    ]


def _without_price(call: dict) -> dict:
    """The dollar a call was for counting."""
    return call | {"answer": call["answer"] | {"cost_usd": 0.0}, "attempts": []}


def _not_markdown(folder: str, names: list[str]) -> list[str]:
    return [n for n in names if not (Path(folder) / n).is_dir() and not n.endswith(".md")] + [
        n for n in names if n == "__pycache__"
    ]


@asynccontextmanager
async def _served(weights: Path | None, server: str):
    if weights is None:
        yield server
        return
    child = Embedded(weights, context=16_384)
    try:
        yield await child.address()
    finally:
        await child.stop()


if __name__ == "__main__":
    os.environ.setdefault("NO_COLOR", "1")
    main()
