"""The rules of the gate, one subject a file; items/checks.py says in which order they run.

base.py       what a rule is and what it sees: Rule, Found, Finding, Ground, Case
facts.py      what the database holds: counts, NULLs, ranges and uniqueness a column
sql.py        reading SQL: the parsed, qualified tree and how to ask variants of it
wording.py    what a question asks for, in English and in Korean

basics.py     the rules of the source: one SELECT, its rows, its clock, its texts (S1-057 to S1-059)
unanswerable.py  the witness is true, and nothing else could answer (S1-060 to S1-062)
"""
