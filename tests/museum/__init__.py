"""The museum of known errors: each published kind replayed with its good twin (see docs/museum.md)."""
