"""verify, lint, khdp-package, thaw and bump, as one types them."""

import json
import shutil
from dataclasses import replace

import pytest
from typer.testing import CliRunner

from cli.main import app
from items.evidence import evidence_folder
from items.spec import load_spec, save_spec, spec_path
from tests.frozen import frozen_registry
from tests.test_cli_text2sql import COMMANDS, site, told

__all__ = ["site"]  # the fixture: a whole making line against scripted models


@pytest.fixture
def registry(tmp_path):
    return frozen_registry(tmp_path / "registry")


def typed(registry, *words):
    where = ["--registry", str(registry)]
    data = (
        ["--data", str(registry.parent / "data")] if {"verify", "khdp-package"} & {*words} else []
    )
    return CliRunner().invoke(app, [*words, *where, *data])


def test_verify_says_what_it_derived(registry):
    done = typed(registry, "verify")
    assert done.exit_code == 0
    assert "demo@0: follows; 2 approvals derived, 9 replies" in done.stdout
    assert "database not at hand" in done.stdout


def test_verify_names_what_is_broken_and_ends_with_1(registry):
    folder = evidence_folder(registry, "demo@0")
    (folder / "2026-11-30-evidence.yaml").write_text("figures: {}\n\n")
    done = typed(registry, "verify", "--json")
    assert done.exit_code == 1
    told = json.loads(done.stdout)
    assert (told["broken"], "changed after the vote" in told["findings"][0]) == (1, True)


def test_verify_of_a_draft_is_wrong_use(registry):
    path = spec_path(registry, "demo@0")
    save_spec(path, replace(load_spec(path), pins=None))
    shutil.rmtree(registry / "evidence")
    assert "demo@0 is a draft" in str(typed(registry, "verify", "--task", "demo@0").exception)


def test_lint_names_keys_that_nobody_answers_for(registry):
    done = typed(registry, "lint")
    assert done.exit_code == 1
    assert "request.max_tokens: nobody set it" in done.stdout


def test_a_package_lies_under_data(registry):
    done = typed(registry, "text2sql", "khdp-package")
    assert done.exit_code == 0
    folder = registry.parent / "data" / "khdp" / "demo-1.0.0"
    assert (folder / "croissant.json").exists()


@pytest.mark.parametrize("version", ["../..", "1", "latest"])
def test_a_package_of_no_version_is_wrong_use_and_writes_nothing(registry, version):
    done = typed(registry, "text2sql", "khdp-package", "--version", version)
    assert done.exit_code == 2
    assert "a version is three numbers" in " ".join(done.stderr.replace("│", "").split())
    assert not (registry.parent / "data").exists()


def test_what_does_not_follow_is_not_packaged(registry):
    path = registry / "drafts" / "demo-hard-v0.yaml"
    path.write_text(path.read_text().replace("difficulty: easy", "difficulty: hard"))
    done = typed(registry, "text2sql", "khdp-package")
    assert done.exit_code == 1
    assert "nothing is packaged" in done.stdout
    assert not (registry.parent / "data").exists()


def test_a_frozen_task_does_not_become_a_draft_by_losing_its_pins(registry):
    path = spec_path(registry, "demo@0")
    save_spec(path, replace(load_spec(path), pins=None))
    done = typed(registry, "verify")
    assert done.exit_code == 1
    assert "a receipt says that it was frozen, and it has no pins" in done.stdout


def test_thaw_starts_the_next_version_and_bump_waits_for_its_freeze(registry):
    assert typed(registry, "text2sql", "thaw").exit_code == 0
    assert spec_path(registry, "demo@1").exists()
    assert "draft" in str(typed(registry, "text2sql", "bump", "--task", "demo@1").exception)


def test_a_line_of_models_is_verified_from_its_replies_alone(site):
    """Written, reviewed, mended, voted and frozen by commands; the ledger is gone, registry/ is enough."""
    folder, _ = site
    for command in COMMANDS:
        told(command, folder)
    (folder / "runs" / "ledger.sqlite").unlink()
    words = ["verify", "--registry", str(folder / "registry"), "--json"]
    for data in (folder / "data", folder / "nowhere"):
        done = CliRunner().invoke(app, [*words, "--data", str(data)])
        assert json.loads(done.stdout)["findings"] == []
        assert done.exit_code == 0
