"""Visibility of events: one rule for all public routes, and the steps between states."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import text

from app.core.cache_invalidation import invalidate as say_changed
from app.core.transaction import transaction
from tests.factories.accounts import create_account, create_signed_in_client
from tests.factories.events import WEEKEND, create_event, create_organiser_client, create_published_event, update_event
from tests.http import Client, data, read_error

PUBLIC_ROUTES = ("/api/events/public/{id}", "/api/events/public/{id}/ticket-inventory")
LISTS = (
    "/api/events/public/discover?limit=100",
    "/api/events?limit=100",
    "/api/events/public/discover?q=seen",
    "/api/events/public/discover?sort=relevance&q=seen",
    "/api/events/public/discover?city=windhoek",
    "/api/events/public/discover?lat=-22.5&lng=17&radiusKm=90&sort=distance",
    "/api/events/public/discover?from=2027-01-01",
    "/api/events/public/discover?category=music",
)
SEEN = {"name": "Seen", "latitude": -22.5, "longitude": 17.0, "category": "music"}


def in_state(owner: Client, state: str) -> dict[str, Any]:
    """An event that an organiser has brought into that state."""
    if state == "draft":
        return create_event(owner, **SEEN, ticketTypes=[WEEKEND])
    if state == "not due":
        return create_event(owner, **SEEN, ticketTypes=[WEEKEND], publishAt=soon(hours=1))
    if state == "due":
        made = create_event(owner, **SEEN, ticketTypes=[WEEKEND], publishAt=soon(hours=1))
        pass_time(made["id"])
        return made
    made = create_published_event(owner, **SEEN)
    return made if state == "published" else update_event(owner, made, visibility=state)


def soon(**ahead: int) -> str:
    return (datetime.now(UTC) + timedelta(**ahead)).isoformat()


def pass_time(event_id: str) -> None:
    """Moves publish_at into the past."""
    with transaction() as session:
        session.execute(
            text("UPDATE event SET publish_at = now() - interval '1 second' WHERE id = :id"), {"id": event_id}
        )
        say_changed(session, "events")


@pytest.mark.parametrize(
    ("state", "by_id", "listed"),
    [
        ("draft", 404, False),
        ("not due", 404, False),
        ("due", 200, True),
        ("published", 200, True),
        ("unlisted", 200, False),
        ("archived", 404, False),
        ("cancelled", 404, False),
    ],
)
def test_one_rule_applies_to_every_public_route(client: Client, state: str, by_id: int, listed: bool) -> None:
    made = in_state(create_organiser_client(client), state)
    assert [client.get(route.format(**made)).status_code for route in PUBLIC_ROUTES] == [by_id] * 2
    found = {route: [item["id"] for item in data(client.get(route))["events"]] == [made["id"]] for route in LISTS}
    assert found == dict.fromkeys(LISTS, listed)


STEPS = {
    "draft": {"published", "unlisted", "cancelled"},
    "published": {"unlisted", "archived", "cancelled"},
    "unlisted": {"published", "archived", "cancelled"},
    "archived": {"cancelled"},
    "cancelled": set(),
}


@pytest.mark.parametrize("now", STEPS)
@pytest.mark.parametrize("wanted", STEPS)
def test_only_listed_steps_are_allowed(client: Client, now: str, wanted: str) -> None:
    owner = create_organiser_client(client)
    made = in_state(owner, now)
    answer = owner.patch(f"/api/events/{made['id']}", {"visibility": wanted})
    if wanted == now or wanted in STEPS[now]:
        assert data(answer)["visibility"] == wanted
    else:
        assert read_error(answer) == (409, "VISIBILITY_NOT_REACHABLE")
        assert answer.get_json()["data"]["reachable"] == sorted(STEPS[now])


def test_cancelled_event_disappears_immediately(client: Client) -> None:
    owner = create_organiser_client(client)
    made = create_published_event(owner)
    for route in PUBLIC_ROUTES:
        assert client.get(route.format(**made)).status_code == 200
    assert len(data(client.get("/api/events/public/discover"))["events"]) == 1
    update_event(owner, made, visibility="cancelled")
    for route in PUBLIC_ROUTES:
        assert client.get(route.format(**made)).status_code == 404
    assert data(client.get("/api/events/public/discover"))["events"] == []


def test_due_draft_is_published_with_the_next_version(client: Client) -> None:
    owner = create_organiser_client(client)
    made = in_state(owner, "due")
    seen = data(owner.get(f"/api/events/{made['id']}"))
    assert (seen["visibility"], seen["version"]) == ("published", made["version"] + 1)
    row = data(owner.get("/api/events?mine=true&visibility=published"))["events"][0]
    assert (row["visibility"], row["version"]) == ("published", seen["version"])
    assert data(owner.get("/api/events?mine=true&visibility=draft"))["events"] == []
    stale = owner.with_(If_Match=f'"{made["version"]}"').patch(f"/api/events/{made['id']}", {"name": "Other"})
    assert read_error(stale) == (412, "STALE_VERSION")
    fresh = owner.with_(If_Match=f'"{seen["version"]}"').patch(f"/api/events/{made['id']}", {"name": "Other"})
    assert data(fresh)["visibility"] == "published"
    back = owner.patch(f"/api/events/{made['id']}", {"visibility": "draft"})
    assert read_error(back) == (409, "VISIBILITY_NOT_REACHABLE")


def test_publishing_needs_a_ticket_type_or_a_capacity(client: Client) -> None:
    owner = create_organiser_client(client)
    made = create_event(owner)
    for change in ({"visibility": "published"}, {"visibility": "unlisted"}, {"publishAt": soon(hours=1)}):
        answer = owner.patch(f"/api/events/{made['id']}", change)
        assert read_error(answer) == (409, "NOT_PUBLISHABLE")
        assert answer.get_json()["data"]["missing"] == ["ticketTypes"]
    path = f"/api/events/{made['id']}/missing-facts"
    assert data(owner.get(path)) == {"missing": ["ticketTypes"]}
    assert update_event(owner, made, visibility="published", capacity=10)["visibility"] == "published"
    assert data(owner.get(path)) == {"missing": []}
    emptied = owner.patch(f"/api/events/{made['id']}", {"capacity": None})
    assert read_error(emptied) == (409, "NOT_PUBLISHABLE")


def test_publishing_needs_a_verified_address(client: Client) -> None:
    owner = create_organiser_client(client, verified=False)
    made = create_event(owner, capacity=10)
    for change in ({"visibility": "published"}, {"publishAt": soon(hours=1)}):
        assert read_error(owner.patch(f"/api/events/{made['id']}", change)) == (403, "EMAIL_NOT_VERIFIED")
    direct = owner.post("/api/events", {**_again(made), "visibility": "published", "capacity": 1})
    assert read_error(direct) == (403, "EMAIL_NOT_VERIFIED")


def _again(made: dict[str, Any]) -> dict[str, Any]:
    return {name: made[name] for name in ("name", "startsAt", "endsAt", "venue", "city", "country")}


def test_publish_at_contradicts_being_public_already(client: Client) -> None:
    owner = create_organiser_client(client)
    answer = owner.post(
        "/api/events",
        {**_again(create_event(owner)), "capacity": 1, "visibility": "published", "publishAt": soon(hours=1)},
    )
    assert answer.status_code == 422


def test_admin_tier_decides_about_reading_and_changing(client: Client) -> None:
    made = in_state(create_organiser_client(client), "draft")
    path = f"/api/events/{made['id']}"
    analyst = create_signed_in_client(client, create_account("admin", admin_tier="analyst"))
    admin = create_signed_in_client(client, create_account("admin", admin_tier="admin"))
    assert analyst.get(path).status_code == 200
    assert read_error(analyst.patch(path, {"name": "Mine"})) == (403, "ROLE_NOT_ALLOWED")
    assert data(admin.patch(path, {"name": "Ours"}))["name"] == "Ours"
    assert [item["id"] for item in data(analyst.get("/api/events?mine=true"))["events"]] == [made["id"]]


def test_organiser_with_analyst_tier_changes_only_own_events(client: Client) -> None:
    made = in_state(create_organiser_client(client), "draft")
    both = create_signed_in_client(
        client, create_account("organiser", roles=["organiser", "admin"], admin_tier="analyst")
    )
    assert both.get(f"/api/events/{made['id']}").status_code == 200
    assert read_error(both.patch(f"/api/events/{made['id']}", {"name": "Mine"})) == (404, "NOT_FOUND")
    assert read_error(both.delete(f"/api/events/{made['id']}")) == (404, "NOT_FOUND")


@pytest.mark.parametrize("method", ["get", "patch", "delete"])
def test_event_of_another_organiser_is_not_found(client: Client, method: str) -> None:
    made = create_published_event(create_organiser_client(client))
    options: list[Any] = [{"name": "Mine"}] if method == "patch" else []
    other = create_organiser_client(client)
    assert read_error(getattr(other, method)(f"/api/events/{made['id']}", *options)) == (404, "NOT_FOUND")
    assert read_error(other.get(f"/api/events/{made['id']}/ticket-stats")) == (404, "NOT_FOUND")
    assert read_error(getattr(other, method)("/api/events/nonsense", *options)) == (404, "NOT_FOUND")


@pytest.mark.parametrize("role", ["customer", "merchant"])
def test_other_roles_are_forbidden(client: Client, role: str) -> None:
    other = create_signed_in_client(client, create_account(role))
    assert read_error(other.post("/api/events", {})) == (403, "ROLE_NOT_ALLOWED")
    assert data(other.get("/api/events?mine=true"))["events"] == []
    assert read_error(client.get("/api/events?mine=true")) == (401, "TOKEN_MISSING")
