"""A kind of exam with two dependent turns, to show that no module knows text2sql by accident.

Turn 1 asks to say the question's number, turn 2 to double what was said. Right: both are right.
Run as a script it sits the exam slowly, so that a test can kill it.
"""

import asyncio
import sys
from pathlib import Path

from eval.exam import Instance, Measure, Prediction, Scored
from eval.rows import run_folder
from eval.run import Asking, sit
from models.call import Answer, Message, Request
from registry.canonical import sha256_text


class Toy:
    """Four questions in two languages, one tier."""

    kind = "toy"
    task = "toy@0"
    primary = "both_right"
    preview = True
    max_tokens = 8
    abstention = {"toy": False}  # noqa: RUF012

    def __init__(self, word: str = "say", protocol: int = 1) -> None:
        self.word = word
        self.pins = {"protocol": protocol}

    def instances(self):
        return tuple(
            Instance(
                f"toy/q{n}-{lang}", f"q{n}", "toy", labels={"language": lang, "number": str(n)}
            )
            for n in (1, 2, 3, 4)
            for lang in ("en", "ko")
        )

    def next_request(self, instance, answers):
        if len(answers) == 2:
            return None
        ask = f"double {answers[0].text}" if answers else f"{self.word} {instance.labels['number']}"
        if instance.labels["language"] == "ko":
            ask = f"{ask.split()[0]} (ko) {ask.split()[-1]}"
        return Request("", (Message("user", ask),), self.max_tokens)

    def parts(self, request):
        return {"question": sha256_text(request.messages[0].content)}

    def parse(self, instance, turn, answer):
        return Prediction("number", answer.text) if answer.text.isdigit() else Prediction("none")

    async def outcomes(self, answered):
        return [self.outcome(instance, predictions) for instance, predictions in answered]

    def outcome(self, instance, predictions):
        said, doubled = (prediction.text for prediction in predictions)
        number = int(instance.labels["number"])
        right = said == str(number) and doubled == str(2 * number)
        return Scored(instance, "right" if right else "wrong", facts={"said": said})

    def assume(self, instance, *, right):
        return Scored(instance, "right" if right else "wrong")

    def measures(self, scored):
        clusters = sorted({row.instance.cluster for row in scored})
        of = {c: [row for row in scored if row.instance.cluster == c] for c in clusters}
        right = tuple(float(sum(r.outcome == "right" for r in of[c])) for c in clusters)
        return (Measure("both_right", "toy", right, tuple(float(len(of[c])) for c in clusters)),)

    def breakdowns(self, scored):
        return ()

    def baselines(self):
        return {}


def header(model: str) -> dict:
    """Return what run.json of a toy run holds."""
    return {"task": "toy@0", "kind": "toy", "model": model, "address": {"model": model}}


class Slow:
    """Answers rightly, one call at a time, 20 ms each."""

    async def __call__(self, request: Request) -> Answer:
        await asyncio.sleep(0.02)
        ask = request.messages[-1].content.split()
        return Answer(ask[-1] if ask[0] == "say" else str(2 * int(ask[-1])))


if __name__ == "__main__":
    folder = run_folder(Path(sys.argv[1]), "exam", "toy@0", "toy/parrot-1b")
    folder.write_header(header("toy/parrot-1b"))
    asyncio.run(sit(Toy(), folder, Asking(Slow(), {"model": "toy/parrot-1b"}, {}, at_once=1)))
