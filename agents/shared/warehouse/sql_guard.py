"""What SQL that a model or a person wrote may do: read the agent's tables, and nothing else.

By an allow-list over sqlglot's syntax tree, not by a list of bad words: a node, a function or a
table that is not named here is refused. What runs afterwards is written from the checked tree, so
that the warehouse cannot read the text differently than this did.
"""

from __future__ import annotations

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from agents.shared.warehouse.engine import MAX_ROWS, Tables

MAX_SQL = 4_000
MAX_NODES = 600
MAX_JOINS = 3


class SqlRefused(ValueError):
    """SQL that may not run; the message says why."""


_STRUCTURE = (
    exp.Select, exp.Union, exp.Intersect, exp.Except, exp.Subquery, exp.With, exp.CTE, exp.From,
    exp.Join, exp.Where, exp.Group, exp.Having, exp.Order, exp.Ordered, exp.Limit, exp.Offset,
    exp.Distinct, exp.Table, exp.TableAlias, exp.Alias, exp.Column, exp.Identifier, exp.Star,
    exp.Paren, exp.Tuple, exp.Window, exp.WindowSpec, exp.Filter, exp.Case, exp.If,
)  # fmt: skip
_VALUES = (
    exp.Literal, exp.Boolean, exp.Null, exp.DataType, exp.DataTypeParam, exp.Cast, exp.TryCast,
    exp.Interval, exp.Var,
)  # fmt: skip
_OPERATORS = (
    exp.And, exp.Or, exp.Not, exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Is, exp.In,
    exp.Between, exp.Like, exp.ILike, exp.Add, exp.Sub, exp.Mul, exp.Div, exp.IntDiv, exp.Mod,
    exp.Neg, exp.Exists, exp.DPipe, exp.Escape,
)  # fmt: skip
_FUNCTIONS = (
    exp.Count, exp.Sum, exp.Avg, exp.Min, exp.Max, exp.Median, exp.Round, exp.Abs, exp.Floor,
    exp.Ceil, exp.Coalesce, exp.Nullif, exp.Lower, exp.Upper, exp.Length, exp.Trim, exp.Substring,
    exp.Concat, exp.RowNumber, exp.Rank, exp.DenseRank, exp.Lag, exp.Lead, exp.Greatest, exp.Least,
)  # fmt: skip
_ALLOWED = frozenset({*_STRUCTURE, *_VALUES, *_OPERATORS, *_FUNCTIONS})
# Types that a cast may name; others take memory, or open files.
_TYPES = frozenset(
    {"TEXT", "VARCHAR", "INT", "BIGINT", "DOUBLE", "FLOAT", "DECIMAL", "BOOLEAN", "DATE"}
)


def guarded(sql: str, tables: Tables, dialect: str) -> str:
    """The query as it may run, in DuckDB's SQL: no more than MAX_ROWS + 1 rows.

    Args:
        dialect: the warehouse's, in which `sql` is read.

    Raises:
        SqlRefused: it is no single SELECT over the tables with the known functions.
    """
    if len(sql) > MAX_SQL:
        raise SqlRefused("the query is longer than I read")
    tree = _parsed(sql, dialect)
    nodes = list(tree.walk())
    if len(nodes) > MAX_NODES:
        raise SqlRefused("the query is too long")
    for node in nodes:
        _check(node)
    if sum(isinstance(node, exp.Join) for node in nodes) > MAX_JOINS:
        raise SqlRefused("it has too many joins")
    _check_tables(tree, tables)
    limited = exp.select("*").from_(tree.subquery("asked")).limit(MAX_ROWS + 1)
    return limited.sql(dialect="duckdb", comments=False)


def _parsed(sql: str, dialect: str) -> exp.Query:
    try:
        trees = [tree for tree in sqlglot.parse(sql, dialect=dialect) if tree is not None]
    except (SqlglotError, RecursionError):
        raise SqlRefused("it is no SQL that can be read") from None
    if len(trees) != 1:
        raise SqlRefused("one statement is allowed, no more and no less")
    if not isinstance(trees[0], exp.Select | exp.SetOperation):
        raise SqlRefused("only SELECT is allowed")
    return trees[0]


def _check(node: exp.Expr) -> None:
    kind = type(node)
    if kind not in _ALLOWED:
        name = node.name or node.key if isinstance(node, exp.Anonymous) else node.key
        raise SqlRefused(f"{str(name)[:40].upper()} is not allowed")
    if isinstance(node, exp.With) and node.recursive:
        raise SqlRefused("WITH RECURSIVE is not allowed")
    if isinstance(node, exp.DataType) and (
        node.this is None or getattr(node.this, "name", "") not in _TYPES
    ):
        raise SqlRefused(f"the type {node.sql()[:40]} is not allowed")
    if isinstance(node, exp.Select) and not node.expressions:
        raise SqlRefused("it selects nothing")
    extra = {name for name, value in node.args.items() if value} & _REFUSED_PARTS
    if extra:
        raise SqlRefused(f"{min(extra).upper()} is not allowed")


# Parts of allowed nodes that sqlglot keeps as arguments of theirs.
_REFUSED_PARTS = frozenset(
    {
        "into", "locks", "hint", "sample", "settings", "format", "options", "laterals", "pivots",
        "kind_sql", "version", "changes", "when", "rows_from", "only", "partition", "match",
        "connect", "qualify", "prewhere", "cluster", "distribute", "sort", "operation_modifiers",
    }
)  # fmt: skip


def _check_tables(tree: exp.Query, tables: Tables) -> None:
    named = {cte.alias for cte in tree.find_all(exp.CTE)}
    if clash := named & tables.keys():
        raise SqlRefused(f"{min(clash)} is a table's name already")
    for table in tree.find_all(exp.Table):
        if not isinstance(table.this, exp.Identifier) or table.args.get("db"):
            raise SqlRefused(f"there is no table {table.sql()[:60]}")
        if table.name not in tables and table.name not in named:
            known = ", ".join(sorted(tables))
            raise SqlRefused(f"there is no table {table.name[:60]}; known: {known}")
