"""The freeze waits for the owner: nothing is written before the word, and a changed plan is shown anew."""

import asyncio
import re

import pytest

from cli.freezing import in_and_out
from graphs import freezing
from graphs.pipeline import at_desk
from registry.events import Event

YES = {"act": "approve", "by": "Kim", "reason": "as planned", "asked": True}
NO = YES | {"act": "drop", "reason": "hard-003 reads badly"}
THREAD = "freeze/demo-hard-v0/test"


@pytest.fixture
def desk(tmp_path):
    """A freeze that can be brought on; what it wrote stands in `done`."""
    done: list[tuple[str, str]] = []

    def go_on(answer=None, plan="a"):
        context = freezing.Context(
            "demo@0",
            plan,
            (f"plan {plan}",),
            lambda said: done.append(("frozen", said["by"])),
            lambda said: done.append(("refused", said["reason"])),
        )
        return asyncio.run(freezing.go_on(context, tmp_path, THREAD, answer))

    go_on.done = done
    go_on.shown = lambda: asyncio.run(at_desk(tmp_path, "demo-hard-v0"))
    return go_on


def test_the_arrows_of_the_docstring_are_those_of_the_graph():
    told = set(re.findall(r"^ +(\w+) +--> (\w+)", freezing.__doc__, re.MULTILINE))
    assert told == {(e.source, e.target) for e in freezing.build().get_graph().edges}


def test_a_freeze_waits_and_the_desk_shows_its_plan(desk):
    assert desk()
    (shown,) = desk.shown()
    assert (shown["kind"], shown["lines"], shown["panel"]) == ("freeze", ["plan a"], "test")
    assert desk()
    assert desk.done == []


@pytest.mark.parametrize(
    ("word", "did"), [(YES, ("frozen", "Kim")), (NO, ("refused", "hard-003 reads badly"))]
)
def test_the_owners_word_ends_it(desk, word, did):
    desk()
    assert not desk(word)
    assert (desk.done, desk.shown()) == ([did], [])


def test_a_plan_that_changed_is_shown_anew_and_not_frozen_on_a_word_for_the_old_one(desk):
    desk()
    assert desk(YES, plan="b")
    assert desk.done == []
    assert desk.shown()[0]["lines"] == ["plan b"]


def test_a_plan_names_what_is_in_and_what_is_out_with_who_dropped_it_and_why():
    drop = Event("drop", "rule/rounds", {"reason": "no round left: ambiguous"}, item="hard-002")
    back = Event("drop", "Kim", {"reason": "a slip"}, item="hard-001")
    assert in_and_out({"hard": ("hard-001",)}, {"hard": [drop, back]}) == [
        "hard in: hard-001",
        "hard out: hard-002, by rule/rounds: no round left: ambiguous",
    ]
