"""What PostgreSQL says that it did for a statement: `EXPLAIN (ANALYZE, FORMAT JSON)`."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import psycopg
from psycopg import sql

EXPLAIN = "EXPLAIN (ANALYZE, TIMING OFF, SUMMARY OFF, FORMAT JSON)"


def number_parameters(text: str) -> tuple[str, list[str]]:
    """A statement of the driver as PREPARE takes it, and the names of its parameters in that order."""
    names = sorted({*re.findall(r"%\((\w+)\)s", text)})
    return re.sub(r"%\((\w+)\)s", lambda found: f"${names.index(found[1]) + 1}", text).replace("%%", "%"), names


def prepare(connection: psycopg.Connection[Any], name: str, text: str) -> None:
    """Prepare a statement, to be planned once for any values."""
    connection.execute("SET plan_cache_mode = force_generic_plan")
    connection.execute(f"PREPARE {name} AS {number_parameters(text)[0]}".encode())


def explain_prepared(
    connection: psycopg.Connection[Any], name: str, text: str, values: Mapping[str, Any]
) -> dict[str, Any]:
    """Run a prepared statement with these values, and return its plan."""
    given = sql.SQL(", ").join(sql.Literal(values[parameter]) for parameter in number_parameters(text)[1])
    statement = sql.SQL(EXPLAIN + f" EXECUTE {name}({{}})").format(given)
    plan: dict[str, Any] = connection.execute(statement).fetchall()[0][0][0]["Plan"]
    return plan


def nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The nodes of a plan, the outermost first."""
    yield plan
    for item in plan.get("Plans", ()):
        yield from nodes(item)


def count_rows(node: dict[str, Any]) -> float:
    """How many rows a node read, discarded ones included."""
    vain = sum(node.get(f"Rows Removed by {why}", 0) for why in ("Filter", "Index Recheck"))
    return float((node["Actual Rows"] + vain) * node["Actual Loops"])


def describe(plan: dict[str, Any], depth: int = 0) -> str:
    """A plan in a few words, for when it is not what it should be."""
    what = [f"{plan[item]}" for item in ("Node Type", "Index Name", "Index Cond", "Filter") if item in plan]
    head = f"{' ' * depth}{' '.join(what)}: {plan['Actual Rows']} of {count_rows(plan)}, {plan['Plan Rows']} expected"
    return "\n".join([head, *(describe(item, depth + 1) for item in plan.get("Plans", ()))])
