"""Small readings of one node of a query's tree: without parentheses, its conditions, its constant."""

from sqlglot import exp


def bare(node: exp.Expr) -> exp.Expr:
    """Return an expression without alias and parentheses around it."""
    while isinstance(node, (exp.Alias, exp.Paren)):
        node = node.this
    return node


def conjuncts(node: exp.Expr | None) -> list[exp.Expr]:
    """Return the conditions that AND holds together."""
    if node is None:
        return []
    if isinstance(node, (exp.Where, exp.Having)):
        return conjuncts(node.this)
    if isinstance(node, exp.And):
        return conjuncts(node.left) + conjuncts(node.right)
    if isinstance(node, exp.Paren) and isinstance(node.this, exp.And):
        return conjuncts(node.this)
    return [node]


def literal(node: exp.Expr | None) -> str | int | float | None:
    """Return a constant's value (a date stays text); None for anything else."""
    if isinstance(node, (exp.Cast, exp.Paren)):
        return literal(node.this)
    if isinstance(node, exp.Neg):
        value = literal(node.this)
        return -value if isinstance(value, (int, float)) else None
    if isinstance(node, exp.Literal):
        if node.is_string:
            return str(node.this)
        text = str(node.this)
        return int(text) if text.isdigit() else float(text)
    return None
