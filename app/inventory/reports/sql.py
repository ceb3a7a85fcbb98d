"""The SQL of the reports' parts. Each part is an expression that gives one JSON value.

`%(…)s` are the parameters of `build_sql_params`.
"""

from app.inventory.models import NO_EXPIRY_DATE
from app.inventory.reports.parameters import value_sql
from app.inventory.sql import VARIANCE_SQL

EXPIRY_SQL = f"coalesce(i.expiry_date, '{NO_EXPIRY_DATE}'::date)"

_ON_HAND_EXPIRY_SQL = f"i.on_hand > 0 AND {EXPIRY_SQL}"

TODAY_SQL = "%(today)s::date"

HORIZON_SQL = f"({TODAY_SQL} + %(within)s::int)"

MAX_GROUPS = 10

_EVENT_CONDITION = "i.event_id = %(event)s"


def json_list_sql(query: str) -> str:
    """Return an expression with the rows of a query as a JSON list."""
    return f"(SELECT coalesce(json_agg(part), '[]') FROM ({query}) part)"


def group_values_sql(column: str) -> str:
    """Return an expression with the ten groups of the highest value."""
    return json_list_sql(f"""
        SELECT i.{column} AS name, count(*) AS items, coalesce(sum({value_sql("i.on_hand")}), 0) AS "costValueMinor"
          FROM inventory_item i WHERE {_EVENT_CONDITION} GROUP BY 1 ORDER BY 3 DESC, 2 DESC, 1 LIMIT {MAX_GROUPS}""")


SUPPLIERS_SQL = group_values_sql("supplier")

_MOVEMENT_CONDITION = """m.event_id = %(event)s AND m.bucket = 'onHand'
           AND m.occurred_at >= %(since)s::timestamptz AND m.occurred_at <= %(until)s::timestamptz"""

DAYS_SQL = json_list_sql(f"""
    SELECT to_char(day, 'YYYY-MM-DD') AS day, coalesce(movements, 0) AS movements,
           trim_scale(coalesce(quantity_in, 0)) AS "quantityIn", trim_scale(coalesce(quantity_out, 0)) AS "quantityOut",
           coalesce(value_in, 0) AS "valueInMinor", coalesce(value_out, 0) AS "valueOutMinor"
      FROM generate_series(%(first)s::date, %(last)s::date, interval '1 day') day
      LEFT JOIN (
        SELECT (m.occurred_at AT TIME ZONE %(zone)s)::date AS on_day, count(*) AS movements,
               sum(m.delta) FILTER (WHERE m.delta > 0) AS quantity_in, -sum(m.delta) FILTER (WHERE m.delta < 0) AS quantity_out,
               sum({value_sql("m.delta")}) FILTER (WHERE m.delta > 0) AS value_in,
               -sum({value_sql("m.delta")}) FILTER (WHERE m.delta < 0) AS value_out
          FROM inventory_movement m JOIN inventory_item i ON i.id = m.item_id
         WHERE {_MOVEMENT_CONDITION} GROUP BY 1) daily ON on_day = day::date
     ORDER BY 1""")

PERIODS_SQL = json_list_sql(f"""
    SELECT to_char(starts, 'YYYY-MM-DD') AS "from", to_char(ends, 'YYYY-MM-DD') AS "to",
           count(i.id) AS items, coalesce(sum({value_sql("i.on_hand")}), 0) AS "costValueMinor"
      FROM (SELECT day::date AS starts, least(day::date + %(step)s::int - 1, {HORIZON_SQL}) AS ends
              FROM generate_series({TODAY_SQL}, {HORIZON_SQL}, make_interval(days => %(step)s::int)) day) periods
      LEFT JOIN inventory_item i ON {_EVENT_CONDITION} AND {EXPIRY_SQL} BETWEEN starts AND ends AND i.on_hand > 0
     GROUP BY starts, ends ORDER BY starts""")

CATEGORIES_SQL = group_values_sql("category")

REASONS_SQL = json_list_sql(f"""
    SELECT m.reason, count(*) AS movements, trim_scale(coalesce(sum(m.delta) FILTER (WHERE m.delta > 0), 0))
           AS "quantityIn", trim_scale(coalesce(-sum(m.delta) FILTER (WHERE m.delta < 0), 0)) AS "quantityOut",
           coalesce(sum({value_sql("m.delta")}), 0) AS "valueMinor"
      FROM inventory_movement m JOIN inventory_item i ON i.id = m.item_id
     WHERE {_MOVEMENT_CONDITION} GROUP BY 1 ORDER BY 2 DESC, 1""")

VARIANCES_SQL = json_list_sql(f"""
    SELECT sku, name, unit, trim_scale(variance) AS variance, round(value * 100) AS "valueMinor"
      FROM ({VARIANCE_SQL.format(event="%(event)s", since="%(since)s::timestamptz", until="%(until)s::timestamptz")}) variances
     WHERE variance <> 0 ORDER BY abs(value) DESC NULLS LAST, abs(variance) DESC, sku LIMIT {MAX_GROUPS}""")

MOVEMENT_TOTALS_SQL = f"""
    (SELECT m.item_id, count(*) AS movements, sum(m.delta) AS net,
            coalesce(sum(m.delta) FILTER (WHERE m.reason = 'received'), 0) AS received,
            coalesce(-sum(m.delta) FILTER (WHERE m.reason = 'sold'), 0) AS sold,
            coalesce(-sum(m.delta) FILTER (WHERE m.reason IN ('waste', 'damage')), 0) AS wasted,
            coalesce(sum(m.delta) FILTER (WHERE m.reason = 'count'), 0) AS counted,
            coalesce(sum(m.delta) FILTER (WHERE m.reason NOT IN ('received', 'sold', 'waste', 'damage', 'count')), 0)
                AS other
       FROM inventory_movement m WHERE {_MOVEMENT_CONDITION} GROUP BY 1)"""

ORDER_SUPPLIERS_SQL = json_list_sql(f"""
    SELECT supplier AS name, count(*) AS items, coalesce(sum("costValueMinor"), 0) AS "costValueMinor"
      FROM rows GROUP BY 1 ORDER BY 3 DESC, 2 DESC, 1 LIMIT {MAX_GROUPS}""")

LAST_MOVEMENT_SQL = """(SELECT to_char(m.occurred_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
     FROM inventory_movement m WHERE m.event_id = %(event)s ORDER BY m.occurred_at DESC, m.seq DESC LIMIT 1)"""
