"""A guard that a database keeps while it is used: it refuses every step that docs/state-machines.md does not have.

It stands while the guides are followed. `ONLY_DRAWN_STEPS=1 make test` puts it on every database of a run; the controls
of races, which take guards of the program away, then fail on purpose, for they end where no drawing leads.
"""

from psycopg.sql import SQL, Identifier, Literal
from sqlalchemy import Connection

from app.web.state_machine import StateMachine
from app.web.state_machine_docs import STATE_MACHINES

REFUSE = """
    CREATE OR REPLACE FUNCTION no_such_step() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN RAISE EXCEPTION 'docs/state-machines.md has no such step of %%: %% -> %%',
        TG_TABLE_NAME, to_jsonb(OLD) ->> TG_ARGV[0], to_jsonb(NEW) ->> TG_ARGV[0]; END $$
"""
# After the change, and only asked of rows that change their state: what is tested stays as fast as it is.
TRIGGER = """
    CREATE OR REPLACE TRIGGER no_such_step AFTER UPDATE OF {column} ON {table} FOR EACH ROW
      WHEN (OLD.{column} <> NEW.{column} AND OLD.{column} || ' ' || NEW.{column} <> ALL ({steps}::text[]))
      EXECUTE FUNCTION no_such_step({name})
"""


def unguarded(connection: Connection) -> None:
    """Takes the guard away."""
    connection.exec_driver_sql("DROP FUNCTION IF EXISTS no_such_step() CASCADE")


def guard(connection: Connection, *machines: StateMachine) -> None:
    """Puts the guard on the tables of these machines, or of all."""
    connection.exec_driver_sql(REFUSE)
    for machine in machines or STATE_MACHINES:
        if machine.column is None:
            continue
        table, column = machine.column
        steps = [f"{one} {other}" for one, other in sorted(machine.stored_transitions)]
        statement = SQL(TRIGGER).format(
            table=Identifier(table), column=Identifier(column), name=Literal(column), steps=Literal(steps)
        )
        connection.exec_driver_sql(statement.as_string().replace("%", "%%"))
