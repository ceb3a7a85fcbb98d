"""Triggers that refuse every state change that docs/state-machines.md does not have.

They are active in the tests of the guides. `ONLY_DRAWN_STEPS=1 make test` adds them to every test database; the control
tests of races, which remove checks of the program, then fail as expected.
"""

from psycopg.sql import SQL, Identifier, Literal
from sqlalchemy import Connection

from app.web.state_machine import StateMachine
from app.web.state_machines_page import STATE_MACHINES

TRIGGER_FUNCTION_SQL = """
    CREATE OR REPLACE FUNCTION no_such_step() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN RAISE EXCEPTION 'docs/state-machines.md has no such step of %%: %% -> %%',
        TG_TABLE_NAME, to_jsonb(OLD) ->> TG_ARGV[0], to_jsonb(NEW) ->> TG_ARGV[0]; END $$
"""
# The trigger runs only for rows whose state changes, so the tests do not get slower.
TRIGGER_SQL = """
    CREATE OR REPLACE TRIGGER no_such_step AFTER UPDATE OF {column} ON {table} FOR EACH ROW
      WHEN (OLD.{column} <> NEW.{column} AND OLD.{column} || ' ' || NEW.{column} <> ALL ({steps}::text[]))
      EXECUTE FUNCTION no_such_step({name})
"""


def unguarded(connection: Connection) -> None:
    """Removes the triggers."""
    connection.exec_driver_sql("DROP FUNCTION IF EXISTS no_such_step() CASCADE")


def guard(connection: Connection, *machines: StateMachine) -> None:
    """Adds the triggers to the tables of these state machines, or of all."""
    connection.exec_driver_sql(TRIGGER_FUNCTION_SQL)
    for machine in machines or STATE_MACHINES:
        if machine.column is None:
            continue
        table, column = machine.column
        steps = [f"{source} {target}" for source, target in sorted(machine.stored_transitions)]
        statement = SQL(TRIGGER_SQL).format(
            table=Identifier(table), column=Identifier(column), name=Literal(column), steps=Literal(steps)
        )
        connection.exec_driver_sql(statement.as_string().replace("%", "%%"))
