"""Reads SQL text: which event tables a statement finds without the event, so that Citus would ask every shard.

A statement is read block by block: a SELECT or an UPDATE without the ones in its parentheses. A table of a block is found
by its event if the conditions of the block compare its `event_id` (the `id` of the table `event`), and one of these
comparisons is with something else than another table of the block.
"""

import re
from collections.abc import Collection, Iterator

LITERAL = re.compile(r"'(?:[^']|'')*'")
QUERY = re.compile(r"\s*(?:WITH|SELECT|INSERT|UPDATE|DELETE)\b", re.IGNORECASE)
UNION = re.compile(r"\bUNION(?:\s+ALL)?\b", re.IGNORECASE)
TABLE = re.compile(r"(?:\b(?:FROM|JOIN|LATERAL|ONLY)|(?:^|\s)UPDATE|,)\s+(\w+)(?:\s+(?:AS\s+)?(\w+))?", re.IGNORECASE)
RESULT = re.compile(r"\bRETURNING\b.*", re.IGNORECASE | re.DOTALL)
COMPARISON = re.compile(r"([\w.]+|\S)\)?\s*(?:=|\bIN\b)\s*([\w.]+|\S)", re.IGNORECASE)
CONDITIONS = re.compile(r"\b(?:FROM|WHERE)\b.*", re.IGNORECASE | re.DOTALL)
KEYWORDS = frozenset(
    [
        "as",
        "cross",
        "fetch",
        "for",
        "full",
        "group",
        "having",
        "inner",
        "join",
        "lateral",
        "left",
        "limit",
        "natural",
        "offset",
        "on",
        "order",
        "returning",
        "right",
        "set",
        "union",
        "using",
        "values",
        "where",
        "window",
    ]
)


def find_tables_without_event(statement: str, event_tables: Collection[str]) -> set[str]:
    """The event tables that some block of the statement reads or changes without comparing their event.

    If a block compares events with each other only, the first of its tables is among them.
    """
    return {
        table
        for block in _split_blocks(LITERAL.sub("''", statement))
        for table in _find_in_block(block, dict(_list_tables(block, event_tables)))
    }


def _find_in_block(block: str, tables: dict[str, str]) -> Iterator[str]:
    """The tables of a block without a comparison; `tables` has their names by alias."""
    found = CONDITIONS.search(RESULT.sub("", block))
    conditions = found[0] if found else ""
    is_alone = len(TABLE.findall(block)) == 1
    columns = {f"{alias}.{_event_column(table)}" for alias, table in tables.items()}
    columns |= {_event_column(table) for table in tables.values() if is_alone}
    sides = [pair for pair in COMPARISON.findall(conditions) if columns & set(pair)]
    for alias, table in tables.items():
        own = {f"{alias}.{_event_column(table)}", *({_event_column(table)} if is_alone else ())}
        if not any(own & set(pair) for pair in sides):
            yield table
    if tables and all(set(pair) <= columns for pair in sides):
        yield next(iter(tables.values()))


def _event_column(table: str) -> str:
    return "id" if table == "event" else "event_id"


def _split_blocks(text: str) -> Iterator[str]:
    """Every SELECT, INSERT, UPDATE and DELETE of the text, without the ones inside it."""
    open_blocks = [""]
    for part in re.split(r"([()])", text):
        if part == "(":
            open_blocks.append("")
        elif part == ")":
            inner = open_blocks.pop()
            if QUERY.match(inner):
                yield from UNION.split(inner)
                open_blocks[-1] += "()"
            else:
                open_blocks[-1] += f"({inner})"
        else:
            open_blocks[-1] += part
    yield from UNION.split(open_blocks[0])


def _list_tables(block: str, event_tables: Collection[str]) -> Iterator[tuple[str, str]]:
    for table, alias in TABLE.findall(block):
        if table in event_tables:
            yield alias if alias and alias.lower() not in KEYWORDS else table, table
