"""Stalls with crew for tests."""

from typing import Any

from werkzeug.test import TestResponse

from tests.factories.events import event, organiser
from tests.factories.merchants import participant
from tests.http import Client, data


def stall(client: Client) -> tuple[Client, str]:
    """A merchant who takes part in an event, and where the crew of that stall is."""
    owner = organiser(client)
    made = event(owner)
    me, _ = participant(client, owner, made["id"])
    return me, f"/api/merchants/me/events/{made['id']}/crew"


def put(me: Client, path: str, *crew: dict[str, Any]) -> list[dict[str, Any]]:
    """The crew as it was replaced."""
    found: list[dict[str, Any]] = data(me.put(path, {"crew": list(crew)}))["crew"]
    return found


def crew_of(me: Client, path: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = data(me.get(path))["crew"]
    return found


def at(me: Client, path: str, what: str, **body: Any) -> TestResponse:
    """The answer to a shift-verify or shift-checkout."""
    return me.post(f"{path}/shift-{what}", body)


def verify(me: Client, path: str, code: str, member_id: str | None = None) -> dict[str, Any]:
    """The shift that the code begins."""
    body = {"code": code} if member_id is None else {"code": code, "crewMemberId": member_id}
    return data(at(me, path, "verify", **body))
