"""What applications cost: queries an operation, and pages of the list that cost the same however long it is."""

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import event, text

from app.core.db import db
from app.core.transaction import transaction
from tests.factories.accounts import account, signed_in
from tests.factories.applications import LIST, activation, applied, body, link, ready, upload
from tests.factories.events import organiser, published
from tests.http import Client, data

MOST = 6
GROW = """
    INSERT INTO merchant_application (id, reference, status, organiser_id, event_id, account_id, amount_minor,
                                      destination, mode, created_at, updated_at)
    SELECT lpad(to_hex(n), 24, '0'), 'MA-' || n, 'submitted', :organiser, :event, :account, n, 'payrail', 'now',
           now() - n * interval '1 s', now() - n * interval '1 s'
      FROM generate_series(CAST(:first AS int), CAST(:last AS int)) AS n
"""


@contextmanager
def reads() -> Iterator[list[str]]:
    """The SELECTs that are made inside."""
    seen: list[str] = []

    def note(_c: object, _cur: object, statement: str, *_: object) -> None:
        if statement.lstrip().upper().startswith("SELECT"):
            seen.append(statement)

    event.listen(db.engine, "before_cursor_execute", note)
    yield seen
    event.remove(db.engine, "before_cursor_execute", note)


def test_no_operation_and_no_page_reads_more_than_six_times(client: Client) -> None:
    owner, merchant = organiser(client), signed_in(client, account("merchant"))
    event_id = published(owner)["id"]
    made = applied(client, eventId=event_id)
    data(owner.patch(f"{LIST}/{made['id']}", {"decision": "approved"}))
    documents, pay = link("documents"), link("pay")
    kinds = ("identity", "business_registration", "tax_clearance", "food_safety")
    token = ready(client, owner, email="petrus@example.com")
    calls = {
        "submit": lambda: merchant.post(LIST, body(eventId=event_id)),
        "list": lambda: owner.get(f"{LIST}?withTotal=true"),
        "one": lambda: owner.get(f"{LIST}/{made['id']}"),
        "decide": lambda: owner.patch(f"{LIST}/{made['id']}", {"decision": "approved"}),
        "documents": lambda: client.get(f"{LIST}/docs/{documents}"),
        "upload": lambda: upload(client, documents, *kinds, submit="true"),
        "documents page": lambda: client.get(f"/documents/{documents}"),
        "fee": lambda: client.get(f"{LIST}/pay/{pay}"),
        "fee page": lambda: client.get(f"/pay/{pay}"),
        "activation": lambda: client.get(f"/api/merchant-activation/{token}"),
        "activation page": lambda: client.get(f"/activate/{token}"),
        "activate": lambda: client.post(f"/api/merchant-activation/{token}", activation()),
        "dead page": lambda: client.get(f"/activate/{token}"),
    }
    found = {}
    for name, call in calls.items():
        with reads() as seen:
            assert call().status_code in (200, 201, 410), name
        found[name] = len(seen)
    assert {name: number for name, number in found.items() if number > MOST} == {}


def test_a_page_costs_the_same_at_a_thousand_and_at_a_hundred_thousand(client: Client) -> None:
    who, merchant, boss = account("organiser"), account("merchant"), account("admin")
    event_id = published(signed_in(client, who))["id"]
    plans: dict[int, list[float]] = {}
    for first, last in ((1, 1_000), (1_001, 100_000)):
        with transaction() as session:
            session.execute(text(GROW), {"organiser": who.id, "event": event_id, "account": merchant.id,
                                         "first": first, "last": last})  # fmt: skip
            session.execute(text("ANALYZE merchant_application"))
        plans[last] = [
            _cost(client, caller, query)
            for caller in (who, merchant, boss)
            for query in ("", "?sort=amountMinor", "?sort=-updatedAt", "?status=submitted", f"?eventId={event_id}")
        ]
    for small, large in zip(*plans.values(), strict=True):
        assert large <= small * 1.5 + 50, plans


def _cost(client: Client, who: object, query: str) -> float:
    """The planner's cost of the page's own query."""
    caller = signed_in(client, who)  # type: ignore[arg-type]
    taken: list[tuple[str, object]] = []

    def note(_c: object, _cur: object, statement: str, parameters: object, *_: object) -> None:
        if "merchant_application" in statement:
            taken.append((statement, parameters))

    event.listen(db.engine, "before_cursor_execute", note)
    assert len(data(caller.get(f"{LIST}{query}"))["applications"]) == 20
    event.remove(db.engine, "before_cursor_execute", note)
    ((statement, parameters),) = taken
    with db.engine.connect() as connection:
        rows = connection.exec_driver_sql(f"EXPLAIN (FORMAT JSON) {statement}", parameters).scalar_one()  # type: ignore
    return float(rows[0]["Plan"]["Total Cost"])
