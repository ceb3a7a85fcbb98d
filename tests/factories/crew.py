"""Stalls with crew for tests."""

from typing import Any

from werkzeug.test import TestResponse

from tests.factories.events import create_event, create_organiser_client
from tests.factories.merchants import create_participant
from tests.http import Client, data


def create_stall(client: Client) -> tuple[Client, str]:
    """A merchant with a stall at an event, and the path of its crew."""
    owner = create_organiser_client(client)
    new_event = create_event(owner)
    me, _ = create_participant(client, owner, new_event["id"])
    return me, f"/api/merchants/me/events/{new_event['id']}/crew"


def replace_crew(me: Client, path: str, *crew: dict[str, Any]) -> list[dict[str, Any]]:
    """Replaces the crew and returns it."""
    crew_data: list[dict[str, Any]] = data(me.put(path, {"crew": list(crew)}))["crew"]
    return crew_data


def load_crew(me: Client, path: str) -> list[dict[str, Any]]:
    crew_data: list[dict[str, Any]] = data(me.get(path))["crew"]
    return crew_data


def post_shift(me: Client, path: str, operation: str, **body: Any) -> TestResponse:
    """The response to shift-verify or shift-checkout."""
    return me.post(f"{path}/shift-{operation}", body)


def start_shift(me: Client, path: str, code: str, member_id: str | None = None) -> dict[str, Any]:
    """Starts a shift with the code and returns it."""
    body = {"code": code} if member_id is None else {"code": code, "crewMemberId": member_id}
    return data(post_shift(me, path, "verify", **body))
