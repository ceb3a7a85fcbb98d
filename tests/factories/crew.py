"""Stalls with crew for tests."""

from typing import Any

from werkzeug.test import TestResponse

from tests.factories.events import event, organiser
from tests.factories.merchants import participant
from tests.http import Client, data


def stall(client: Client) -> tuple[Client, str]:
    """A merchant with a stall at an event, and the path of its crew."""
    owner = organiser(client)
    new_event = event(owner)
    me, _ = participant(client, owner, new_event["id"])
    return me, f"/api/merchants/me/events/{new_event['id']}/crew"


def put(me: Client, path: str, *crew: dict[str, Any]) -> list[dict[str, Any]]:
    """Replaces the crew and returns it."""
    crew_data: list[dict[str, Any]] = data(me.put(path, {"crew": list(crew)}))["crew"]
    return crew_data


def crew_of(me: Client, path: str) -> list[dict[str, Any]]:
    crew_data: list[dict[str, Any]] = data(me.get(path))["crew"]
    return crew_data


def at(me: Client, path: str, operation: str, **body: Any) -> TestResponse:
    """The response to shift-verify or shift-checkout."""
    return me.post(f"{path}/shift-{operation}", body)


def verify(me: Client, path: str, code: str, member_id: str | None = None) -> dict[str, Any]:
    """Starts a shift with the code and returns it."""
    body = {"code": code} if member_id is None else {"code": code, "crewMemberId": member_id}
    return data(at(me, path, "verify", **body))
