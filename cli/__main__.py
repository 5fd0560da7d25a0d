"""`python -m cli` is `benchtoward`."""

from cli.main import run

run()
