"""A key appears nowhere: not in the ledger, the logs, the errors, their chains or the process title."""

import asyncio
import io
import logging
import traceback
from pathlib import Path

import psutil
import pytest

from models.call import ModelError
from models.failures import scrub
from models.gateway import open_gateway
from models.keys import key_of
from tests.models_setup import QUICK, SQL, ask, registry
from tests.server import Fault, Server, Status

KEYS = {
    "OpenAI": "sk-proj-Ab12Cd34Ef56Gh78Ij90Kl12",
    "Anthropic": "sk-ant-api03-ZZtop_9876543210-abcdef",
    "Google": "AIzaSyD-1234567890abcdefghijklmnop",
    "Together": "tgp_v1_0123456789abcdefghijklmnop",
    "Groq": "gsk_0123456789abcdefghijklmnopqrst",
    "a bare hex one": "9f8e7d6c5b4a39281706f5e4d3c2b1a0",
    "one with a slash and plus": "abC/dEf+gHi/jKl+mNo0123456789==",
}
ECHO = "Incorrect API key provided: {authorization}"
FAULTS = {
    "an echoed header": Status(401, ECHO),
    "an echoed header, tried again": Status(500, ECHO),
    "an echoed header in a bad request": Status(400, ECHO),
    "a reset": Fault("reset"),
    "a malformed reply": Fault("malformed"),
}


@pytest.mark.parametrize("lane", ["litellm", "bulk"])
@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_no_key_is_written_anywhere(tmp_path, monkeypatch, capfd, fault, lane):
    heard = io.StringIO()
    handler = logging.StreamHandler(heard)
    logging.getLogger().addHandler(handler)
    logging.getLogger().setLevel(logging.DEBUG)
    try:
        told = "".join(asyncio.run(provoked(tmp_path, monkeypatch, fault, lane)))
    finally:
        logging.getLogger().removeHandler(handler)
        logging.getLogger().setLevel(logging.WARNING)
    out, err = capfd.readouterr()
    written = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    title = " ".join(psutil.Process().cmdline())
    for key in KEYS.values():
        assert key.encode() not in written
        assert key not in told + heard.getvalue() + out + err + title


async def provoked(folder: Path, monkeypatch, fault, lane) -> list[str]:
    """Fail once with each key; returns the errors whole: text, traceback with its chain, attributes."""
    told = []
    async with Server([fault]) as server:
        for number, key in enumerate(KEYS.values()):
            monkeypatch.setenv("ACME_KEY", key)
            place = registry(folder / str(number), server.api_base, key="ACME_KEY", lane=lane)
            async with open_gateway(place, folder / f"runs{number}", retries=QUICK) as gateway:
                try:
                    await gateway(gateway.request(SQL, ask("x"), max_tokens=9))
                except ModelError as error:
                    told += [
                        str(error),
                        "".join(traceback.TracebackException.from_exception(error).format()),
                        repr(_reachable(error)),
                    ]
    assert len(told) == 3 * len(KEYS)
    return told


def _reachable(error: BaseException | None) -> list[object]:
    """Everything that hangs on an error and its chain."""
    found: list[object] = []
    while error is not None:
        found += [error.args, vars(error)]
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return found


@pytest.mark.parametrize("key", KEYS.values(), ids=KEYS)
def test_a_known_key_is_replaced_by_the_name_of_its_variable(key, monkeypatch):
    monkeypatch.setenv("ACME_API_KEY", key)
    assert key not in scrub(f"wrong: {key}!")
    assert "[ACME_API_KEY]" in scrub(f"wrong: {key}!")


def test_a_key_can_stand_in_a_file_that_the_environment_names(tmp_path, monkeypatch):
    (tmp_path / "key").write_text("kept-in-a-file-12345\n")
    monkeypatch.delenv("ACME_API_KEY", raising=False)
    monkeypatch.setenv("ACME_API_KEY_FILE", str(tmp_path / "key"))
    assert key_of("ACME_API_KEY") == "kept-in-a-file-12345"
    assert scrub("wrong: kept-in-a-file-12345") == "wrong: [ACME_API_KEY]"


def test_a_key_file_that_is_not_there_is_a_clear_sentence(monkeypatch):
    monkeypatch.delenv("ACME_API_KEY", raising=False)
    monkeypatch.setenv("ACME_API_KEY_FILE", "/nowhere/key")
    with pytest.raises(ModelError, match="ACME_API_KEY_FILE names a file that cannot be read"):
        key_of("ACME_API_KEY")


@pytest.mark.parametrize("name", ["OpenAI", "Anthropic", "Google", "Together", "Groq"])
def test_a_key_of_a_usual_shape_is_recognised_without_the_environment(name):
    assert KEYS[name] not in scrub(f"key {KEYS[name]} is wrong")


def test_a_header_is_recognised_whatever_the_key_looks_like():
    assert "zzz111yyy222" not in scrub("Authorization: Bearer zzz111yyy222")


def test_a_traceback_in_a_message_is_left_out():
    assert scrub("no such model Traceback (most recent call last): File x") == "no such model"


def test_what_a_provider_says_stays_readable():
    assert scrub("max_tokens must be\n at most 4096") == "max_tokens must be at most 4096"
