"""The rules of the gate, one subject a file; listed.py says in which order they run.

base.py         what a rule is and what it sees: Rule, Found, Finding, Ground, Case
facts.py        what the database holds: counts, NULLs and ranges of a column, names of a concept
sql.py          reading SQL: the parsed, qualified tree and how to ask variants of it
nodes.py        one node of that tree: its conditions, its constant
wording.py      what a question asks for, in English and in Korean
figures.py      the numbers that a question says, in figures and in words, in either language

basics.py       the rules of the source: one SELECT, its rows, its clock, its texts (S1-057 to S1-059)
unanswerable.py the witness is true, and nothing else could answer (S1-060 to S1-062)
injection.py    texts that instruct their reader, characters that nobody sees
ties.py         LIMIT, row numbers and arg_max that pick one of several equal rows
counting.py     people counted as rows, records merged, counts of a condition
distinct.py     different days counted for visits, different records for people
fanout.py       joins and groups that make one thing count several times
grouping.py     names that several things share, ids that do not exist, groups with a gap
absences.py     those who have nothing and should still have their row or their zero
left_out.py     zeros of a visit, a provider or a subgroup that a join loses
nulls.py        what a missing value does to a comparison, a list, an average, a count
values.py       constants absent from their column, codes as numbers, dead columns
numbers.py      text that holds numbers, decimals cut off, divisions by zero
units.py        values of one measurement in several units
concepts.py     concepts that do not exist, are not the question's, or lack their descendants
kinds.py        the concept itself, every product of an ingredient, with and without
joins.py        sources joined to nothing, ids of different things, ancestors for descendants
conditions.py   AND beside OR, what can never be true, what leaves nothing out
periods.py      the month, the year and the side of a window that the question names
limits.py       more than and at least, before and until, within, the five most
dates.py        whole days, months and years, midnights, formatted dates, ends of months
ages.py         whole years lived, however a difference of years is spelled
time.py         the tier's today, both sides of an interval, starts and ends
events.py       the first of all before any filter, what reaches into a period
relations.py    the first, never, all of them, before and after: said and done
aggregates.py   the mean for a mean, the highest for the highest, shares between 0 and all
shares.py       the whole that a share is asked of stands below the line
shape.py        yes/no, rows, columns, order, rounding
answers.py      names, numbers and group labels that the question wants to see
unasked.py      a sex, a period or a number that only the query has
opposites.py    more and fewer, oldest and youngest: the same in both languages
naming.py       a drug of the Korean question alone, a named concept that the query lacks
languages.py    the Korean and the English question, and the constants of the query
determinism.py  copies of the database with its rows in another order
duplicates.py   questions, queries and results that another item has too
mutation.py     small mistakes that the database does not show (items/mutants.py, items/neighbour.py)
"""
