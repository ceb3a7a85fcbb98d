"""Every example of a request body in the document is sent as it stands and succeeds.

Only what differs from one installation to the next is put in its place: ids, codes, tokens, and the password of the caller.
"""

from collections.abc import Iterator
from typing import Any

import pytest
from flask import Flask

from app.core.db import db
from app.web.openapi_examples import EXAMPLE_TEXT
from tests.conftest import empty
from tests.contract.document import Document
from tests.factories.accounts import PASSWORD
from tests.http import Client
from tests.security.expected import CALLERS, expectation
from tests.security.requests import find_sample_request
from tests.security.world import UNVERIFIED, World, drop_saved_tables, restore_tables
from tests.settings import app_for

INSTALLATION_VALUES = {
    "eventId": "eventId",
    "ticketTypeId": "ticketTypeId",
    "toBlockId": "otherBlockId",
    "merchantIds": ["uninvited"],
    "refreshToken": "refresh_token",
    "resetToken": "reset_token",
}
"""Values of the world of tests/security that replace those of the example, by property."""
FROM_REQUEST = {
    "POST /api/auth/login",
    "POST /api/auth/verify-email",
    "POST /api/auth/resend-verification",
    "POST /api/auth/password-reset/request",
    "POST /api/auth/password-reset/verify",
    "POST /api/auth/password-reset/complete",
    "POST /api/devices/pair",
    "POST /api/merchants/me/events/{eventId}/crew/shift-verify",
}
"""Operations about a person who exists: their address, code and password are the world's."""
WITHOUT_SUCCESS = {
    "POST /api/events/{eventId}/admissions": "needs the code of a ticket; tests/gate has them",
    "POST /api/auth/apple": "needs a token that Apple signed",
    "POST /api/auth/google": "needs a token that Google signed",
    "POST /api/auth/change-email/confirm": "needs a code that was mailed",
    "POST /api/auth/login/second-factor": "needs the challenge of a sign-in",
    "POST /api/auth/second-factor/confirm": "needs a code of the app",
    "POST /api/auth/second-factor/recovery-codes": "needs a second factor",
    "POST /api/auth/register/admin": "the caller decides the tier; tests/security has each",
    "POST /api/events/{id}/notifications/campaigns/{campaignId}/resend-uncertain": "tests/campaigns has uncertain messages",
    "POST /api/events/{eventId}/allocations/{blockId}/move": "the block of the examples is invoiced",
    "POST /api/payrail/callbacks": "needs the signature of the rail",
}


@pytest.fixture(scope="module")
def world(application: Flask) -> Iterator[World]:
    settings = application.extensions["settings"]
    without_limits = app_for(
        database_url=settings.DATABASE_URL,
        redis_url=settings.REDIS_URL,
        data_dir=settings.DATA_DIR,
        RATE_LIMIT_SCALE="100000",
    )
    with without_limits.app_context():
        empty(without_limits)
        yield World(Client(without_limits.test_client())).build()
        drop_saved_tables()
        empty(without_limits)
        db.session.remove()
        db.engine.dispose()


def list_bodies(document: Document) -> dict[str, dict[str, Any]]:
    """The example of the body of each operation that has one."""
    return {
        f"{method} {path}": content["example"]
        for method, path, operation in document.operations()
        if (content := operation.get("requestBody", {}).get("content", {}).get("application/json"))
    }


def fill_in(example: dict[str, Any], operation: str, world: World) -> dict[str, Any]:
    request = find_sample_request(operation)
    own = request.body(world.things) if callable(request.body) else request.body or {}
    body = dict(example)
    for name, value in INSTALLATION_VALUES.items():
        if name in body:
            body[name] = [world.things[item] for item in value] if isinstance(value, list) else world.things[value]
    if "plannedShifts" in body:
        body["plannedShifts"] = [
            {**shift, "crewMemberId": world.things["crewMemberId"]} for shift in body["plannedShifts"]
        ]
    if operation not in FROM_REQUEST:
        body |= {name: PASSWORD for name in ("currentPassword", "password") if own.get(name) == PASSWORD}
    if operation in FROM_REQUEST:
        body |= {name: own[name] for name in ("email", "code", "password") if name in own}
    return body


def pick_caller(operation: str) -> str:
    allowed = [caller for caller in CALLERS if expectation(operation, caller) is None and UNVERIFIED not in caller]
    return next((caller for caller in allowed if caller in ("organiser", "merchant")), allowed[0])


def test_every_example_succeeds(application: Flask, world: World) -> None:
    document = Document(application.test_client().get("/openapi.json").get_json())
    failures = {}
    for operation, example in list_bodies(document).items():
        if operation in WITHOUT_SUCCESS:
            continue
        method, path = operation.split(" ")
        request = find_sample_request(operation)
        for name in [part[1:-1] for part in path.split("/") if part.startswith("{")]:
            path = path.replace(f"{{{name}}}", world.things[request.path_values.get(name, name)])
        with world.as_caller(pick_caller(operation)) as client:
            response = client.open(method, path, json=fill_in(example, operation, world))
        described = {int(status) for status in document.find(*operation.split(" "))["responses"] if status[0] == "2"}  # type: ignore[index]
        if response.status_code not in described:
            failures[operation] = (response.status_code, response.get_json(silent=True), example)
        restore_tables()
    assert failures == {}


def test_no_example_has_the_text_for_unnamed_fields(document: Document) -> None:
    assert EXAMPLE_TEXT[:6] not in str(document.raw)


def test_everything_in_the_document_is_described(document: Document) -> None:
    for method, path, operation in document.operations():
        assert operation["description"] and operation["summary"], (method, path)
        assert [item for item in operation["parameters"] if not document.follow(item).get("description")] == []
        for status, response in operation["responses"].items():
            assert status == "304" or "X-Request-Id" in response["headers"], (method, path, status)
    for name, schema in document.raw["components"]["schemas"].items():
        undescribed = [key for key, value in schema.get("properties", {}).items() if not value.get("description")]
        assert undescribed == [], name
