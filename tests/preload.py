"""What a forked command needs, imported once (litellm takes seconds)."""

import cli.main
import graphs.pipeline
from models.hosted import library

library()
__all__ = ["cli", "graphs"]
