"""A page of the list of applications costs the same for short and long lists."""

from sqlalchemy import event, text

from app.core.db import db
from app.core.transaction import transaction
from tests.factories.accounts import create_account, create_signed_in_client
from tests.factories.applications import LIST
from tests.factories.events import create_published_event
from tests.http import Client, data

INSERT_APPLICATIONS = """
    INSERT INTO merchant_application (id, reference, status, organiser_id, event_id, account_id, amount_minor,
                                      destination, mode, created_at, updated_at)
    SELECT lpad(to_hex(n), 24, '0'), 'MA-' || n, 'submitted', :organiser, :event, :account, n, 'payrail', 'now',
           now() - n * interval '1 s', now() - n * interval '1 s'
      FROM generate_series(CAST(:first AS int), CAST(:last AS int)) AS n
"""


def test_page_costs_the_same_at_a_thousand_and_a_hundred_thousand_rows(client: Client) -> None:
    caller_account, merchant, admin = create_account("organiser"), create_account("merchant"), create_account("admin")
    event_id = create_published_event(create_signed_in_client(client, caller_account))["id"]
    plans: dict[int, list[float]] = {}
    for first, last in ((1, 1_000), (1_001, 100_000)):
        with transaction() as session:
            # A hundred thousand rows may take their time on a busy machine.
            session.execute(text("SET LOCAL statement_timeout = 0"))
            session.execute(
                text(INSERT_APPLICATIONS),
                {
                    "organiser": caller_account.id,
                    "event": event_id,
                    "account": merchant.id,
                    "first": first,
                    "last": last,
                },
            )
            session.execute(text("ANALYZE merchant_application"))
        plans[last] = [
            estimate_cost(client, caller, query)
            for caller in (caller_account, merchant, admin)
            for query in ("", "?sort=amountMinor", "?sort=-updatedAt", "?status=submitted", f"?eventId={event_id}")
        ]
    for small, large in zip(*plans.values(), strict=True):
        assert large <= small * 1.5 + 50, plans


def estimate_cost(client: Client, caller_account: object, query: str) -> float:
    """The planner's cost of the page's own query."""
    caller = create_signed_in_client(client, caller_account)  # type: ignore[arg-type]
    captured_statements: list[tuple[str, object]] = []

    def capture_statement(_c: object, _cur: object, statement: str, parameters: object, *_: object) -> None:
        if "merchant_application" in statement:
            captured_statements.append((statement, parameters))

    event.listen(db.engine, "before_cursor_execute", capture_statement)
    assert len(data(caller.get(f"{LIST}{query}"))["applications"]) == 20
    event.remove(db.engine, "before_cursor_execute", capture_statement)
    ((statement, parameters),) = captured_statements
    with db.engine.connect() as connection:
        rows = connection.exec_driver_sql(f"EXPLAIN (FORMAT JSON) {statement}", parameters).scalar_one()  # type: ignore
    return float(rows[0]["Plan"]["Total Cost"])
