"""The trivial task of models_asking.py by lm-eval and by inspect-ai; runs in an environment of theirs.

    VENV/bin/python benchmarks/models_peers.py lm_eval API_BASE CALLS AT_ONCE FOLDER

Nothing of BenchToward is imported here.
"""

import json
import os
import sys
from pathlib import Path


def question(number: int) -> str:
    return f"What is {number} + {number}?"


def lm_eval(base: str, calls: int, at_once: int, folder: Path) -> None:
    """A generate_until task of lm-eval through its OpenAI-compatible chat model."""
    os.environ["HF_DATASETS_OFFLINE"] = os.environ["HF_HUB_OFFLINE"] = "1"
    rows = folder / "rows.jsonl"
    rows.write_text("".join(json.dumps({"q": question(n), "a": "x"}) + "\n" for n in range(calls)))
    task = {
        "task": "trivial",
        "dataset_path": "json",
        "dataset_kwargs": {"data_files": {"test": str(rows)}, "cache_dir": str(folder / "hf")},
        "test_split": "test",
        "output_type": "generate_until",
        "doc_to_text": "{{q}}",
        "doc_to_target": "{{a}}",
        "generation_kwargs": {"until": [], "max_gen_toks": 64, "temperature": 0},
        "metric_list": [{"metric": "exact_match"}],
    }
    from lm_eval import simple_evaluate
    from lm_eval.tasks import TaskManager

    done = simple_evaluate(
        model="local-chat-completions",
        model_args={
            "model": "trivial",
            "base_url": f"{base}/chat/completions",
            "num_concurrent": at_once,
            "tokenized_requests": False,
            "tokenizer_backend": None,
        },
        tasks=[task],
        task_manager=TaskManager(include_defaults=False),
        apply_chat_template=True,
        bootstrap_iters=0,
        log_samples=True,
    )
    assert len(done["samples"]["trivial"]) == calls


def inspect_ai(base: str, calls: int, at_once: int, folder: Path) -> None:
    """A one-turn task of inspect-ai through its OpenAI-compatible provider."""
    os.environ["TRIVIAL_BASE_URL"], os.environ["TRIVIAL_API_KEY"] = base, "none-needed"
    from inspect_ai import Task, eval
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.scorer import match
    from inspect_ai.solver import generate

    samples = [Sample(input=question(n), target="x") for n in range(calls)]
    (log,) = eval(
        Task(dataset=MemoryDataset(samples), solver=generate(), scorer=match()),
        model="openai-api/trivial/trivial",
        max_connections=at_once,
        max_samples=at_once,
        max_tokens=64,
        temperature=0,
        log_dir=str(folder / "logs"),
        display="none",
    )
    assert log.status == "success", log.error


if __name__ == "__main__":
    who, base, calls, at_once, folder = sys.argv[1:]
    {"lm_eval": lm_eval, "inspect_ai": inspect_ai}[who](
        base, int(calls), int(at_once), Path(folder)
    )
