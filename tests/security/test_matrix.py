"""Every caller calls every operation with ids of existing objects and gets what expected.py says.

All callers send the owner's request, so a refusal depends on the caller alone. All tables are restored after a write.
"""

import re
from collections.abc import Iterator

import pytest
from flask import Flask
from sqlalchemy import text, true
from werkzeug.test import TestResponse

from app.core.db import db
from app.core.jobs import list_jobs
from app.events import queries as event_queries
from app.web.access import Access
from tests.conftest import empty
from tests.contract.document import Document
from tests.contract.not_yet import NOT_YET
from tests.http import Client, read_error
from tests.security.expected import AREAS, CALLERS, EXPECTED, expectation
from tests.security.requests import find_sample_request
from tests.security.world import World, drop_saved_tables, restore_tables
from tests.settings import app_for

BUILT = sorted(set(EXPECTED) - NOT_YET)
# Operations on a thing inside an event.
NESTED = [item for item in BUILT if "/api/events/{eventId}/" in item and "Id}" in item.partition("{eventId}")[2]]
# The caller is not signed in, so the mail is checked and counted for the organiser when it is sent.
BY_GUESTS = {
    "POST /api/allocations/claim/{token}",
    "POST /api/allocations/allocator/{token}",
    "POST /api/allocations/allocator/{token}/guests",
    "POST /api/allocations/ticket/{token}/give-back",
    "POST /api/allocations/ticket/{token}/pass-on",
    "POST /api/merchant-applications/offer/{token}",
    "POST /api/merchant-activation/{token}",
    "POST /api/merchant-applications/docs/{token}",
    "POST /api/merchant-applications/pay/{token}/payrail/verify-otp",
    "POST /api/payrail/callbacks",
}
# Once for each invitation, to the organiser who sent it; for each payment, to the holder who got the invoice. The mail of a
# payment counts when it is sent, because a payment is recorded also when the holder has had the mails of a day.
COUNTED_LATER = {
    "PATCH /api/merchants/me/event-invites/{inviteId}",
    "POST /api/events/{eventId}/allocations/{blockId}/invoice/received",
    "POST /api/events/{eventId}/allocations/{blockId}/invoice/received/take-back",
}


@pytest.fixture(scope="module")
def world(application: Flask) -> Iterator[World]:
    """Built once, without rate limits, because all callers have one address."""
    ours = application.extensions["settings"]
    roomy = app_for(
        database_url=ours.DATABASE_URL, redis_url=ours.REDIS_URL, data_dir=ours.DATA_DIR, RATE_LIMIT_SCALE="100000"
    )
    with roomy.app_context():
        empty(roomy)
        yield World(Client(roomy.test_client())).build()
        drop_saved_tables()
        empty(roomy)
        db.session.remove()
        db.engine.dispose()


def call(world: World, operation: str, caller: str, **other: str) -> TestResponse:
    method, path = operation.split(" ")
    asked = find_sample_request(operation)
    for name in re.findall(r"\{(\w+)\}", path):
        path = path.replace(f"{{{name}}}", other.get(name) or world.things[asked.path_values.get(name, name)])
    with world.as_caller(caller) as client:
        return client.open(method, path, **asked.options(world.things))


def check_mail_to_others(operation: str) -> None:
    """An operation that queued mail to others needs a verified address and has counted the mail; guests are exempt."""
    kinds = {item.kind for item in list_jobs() if item.to_others}
    queued = text("SELECT kind FROM outbox WHERE id NOT IN (SELECT id FROM kept_outbox)")
    counted = text("SELECT count(*) FROM throttle WHERE key LIKE 'mails-%'")
    with db.engine.connect() as connection:
        mails = kinds & set(connection.scalars(queued))
        if not mails or operation in BY_GUESTS:
            return
        assert "v" in AREAS[EXPECTED[operation]].values(), f"{operation} mails others: {mails}"
        assert operation in COUNTED_LATER or connection.scalar(counted), f"{operation} does not count its mails"


def read_outcome(answer: TestResponse) -> tuple[int, str] | None:
    return None if 200 <= answer.status_code < 300 else read_error(answer)


def test_the_rules_know_every_operation_and_nothing_else(application: Flask) -> None:
    document = Document(application.test_client().get("/openapi.json").get_json())
    served = {f"{method} {path}" for method, path, _ in document.operations()}
    assert served == set(EXPECTED) - NOT_YET
    assert set(EXPECTED.values()) == set(AREAS)


@pytest.mark.parametrize("operation", BUILT)
def test_nobody_gets_what_the_rules_do_not_give(world: World, operation: str) -> None:
    """Callers who are refused come first, because they change nothing."""
    found = {}
    for caller in sorted(CALLERS, key=lambda item: expectation(operation, item) is None):
        found[caller] = read_outcome(call(world, operation, caller))
        if found[caller] is None and not operation.startswith("GET"):
            check_mail_to_others(operation)
            restore_tables()
    assert found == {caller: expectation(operation, caller) for caller in CALLERS}


@pytest.mark.parametrize("operation", NESTED)
def test_a_thing_of_somebody_else_is_not_reached_through_an_own_event(world: World, operation: str) -> None:
    """The path has an event of the caller and an object of another organiser's event."""
    found = read_outcome(call(world, operation, "other_organiser", eventId=world.things["foreignEventId"]))
    assert found == (404, "NOT_FOUND")


def test_without_the_guard_of_roles_it_would_be_seen(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Access, "allows", lambda *_: True)
    for caller in ("customer", "merchant", "analyst"):
        assert read_outcome(call(world, "POST /api/events", caller)) is None
        assert expectation("POST /api/events", caller) == (403, "ROLE_NOT_ALLOWED")
    restore_tables()


def test_without_the_guard_of_owners_it_would_be_seen(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_queries, "owned", lambda *_: true())
    operation = "GET /api/events/{id}"
    assert read_outcome(call(world, operation, "other_organiser")) is None
    assert expectation(operation, "other_organiser") == (404, "NOT_FOUND")
