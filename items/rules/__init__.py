"""The rules of the gate, one subject a file; items/checks.py says in which order they run.

base.py       what a rule is and what it sees: Rule, Found, Finding, Ground, Case
facts.py      what the database holds: counts, NULLs and ranges of a column, names of a concept
sql.py        reading SQL: the parsed, qualified tree and how to ask variants of it
wording.py    what a question asks for, in English and in Korean

basics.py     the rules of the source: one SELECT, its rows, its clock, its texts (S1-057 to S1-059)
unanswerable.py  the witness is true, and nothing else could answer (S1-060 to S1-062)
injection.py  texts that instruct their reader, characters that nobody sees
ties.py       LIMIT, row numbers and arg_max that pick one of several equal rows
counting.py   people counted as rows, fan-out joins, counts of a CASE, names merged
values.py     constants absent from their column, dead columns, text as number, division
concepts.py   concepts that do not exist, are not the question's, or lack their descendants
joins.py      sources joined to nothing, ids of different things, ancestors for descendants
limits.py     more than and at least, before and until, the five most
nulls.py      NOT IN, open ends, averages over missing values, outer joins undone
time.py       boundaries, ages, lengths of stay, midnights, the tier's today
shape.py      yes/no, aggregates, AND and OR, order, rounding, columns
languages.py  the Korean and the English question, and the constants of the query
duplicates.py questions, queries and results that another item has too
mutation.py   small mistakes that the database does not show (items/mutants.py, items/neighbour.py)
determinism.py   copies of the database with its rows in another order
"""
