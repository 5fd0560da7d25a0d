"""What is fixed and versioned: the data files of this folder, and the one strict way to read them.

reader.py     YAML into frozen dataclasses; every mistake is a FormatError with file:line
writer.py     the same values back as YAML for people
files.py      files are replaced whole; one writer at a time
canonical.py  canonical JSON and its sha256
events.py     the hash-chained record of what was done (records/*.jsonl)
"""
