"""Every member, device and key of a team calls every operation and gets what expected_teams.py says."""

from collections.abc import Iterator

import pytest
from flask import Flask

from app.accounts.permissions import MERCHANT, ORGANISER
from app.core.db import db
from app.web.access import Access
from tests.conftest import empty
from tests.contract.not_yet import NOT_YET
from tests.factories.accounts import PASSWORD
from tests.factories.events import create_event
from tests.http import Client, data
from tests.security.expected import EXPECTED
from tests.security.expected_teams import TEAM_CALLERS, needs_token, team_expectation
from tests.security.test_matrix import call, read_outcome
from tests.security.world import World, drop_saved_tables, restore_tables, save_tables
from tests.settings import app_for

OPERATIONS = sorted(operation for operation in set(EXPECTED) - NOT_YET if needs_token(operation))
ROLES = {name: name for name in ("manager", "finance", "door", "stock", "messages", "viewer")}


class TeamWorld(World):
    """The world with a team of the organiser and one of the merchant."""

    def build(self) -> "TeamWorld":
        super().build()
        organiser, merchant = self.ids["organiser"], self.ids["merchant"]
        for name, role in ROLES.items():
            self.add_member(ORGANISER, organiser, role, caller=name)
        elsewhere = create_event(self.callers["organiser"])["id"]
        self.add_member(ORGANISER, organiser, "manager", [elsewhere], caller="elsewhere")
        self.add_member(MERCHANT, merchant, "manager", caller="stall_manager")
        self.add_member(MERCHANT, merchant, "cashier", caller="cashier")
        owner, path = self.callers["organiser"], f"/api/events/{self.things['eventId']}/devices"
        for kind in ("gate", "stock"):
            code = data(owner.post(path, {"kind": kind, "name": f"{kind} phone"}), 201)["pairingCode"]
            token = data(self.client.post("/api/devices/pair", {"code": code}))["deviceToken"]
            self.callers[f"{kind}_device"] = self.client.as_(token)
        key_body = {"name": "Shop", "scopes": ["stock", "gate"], "password": PASSWORD}
        key = data(owner.post("/api/organisations/me/api-keys", key_body), 201)
        self.callers["key"] = self.client.as_(key["key"])
        self._identities()
        save_tables()
        return self


@pytest.fixture(scope="module")
def world(application: Flask) -> Iterator[World]:
    ours = application.extensions["settings"]
    roomy = app_for(
        database_url=ours.DATABASE_URL, redis_url=ours.REDIS_URL, data_dir=ours.DATA_DIR, RATE_LIMIT_SCALE="100000"
    )
    with roomy.app_context():
        empty(roomy)
        yield TeamWorld(Client(roomy.test_client())).build()
        drop_saved_tables()
        empty(roomy)
        db.session.remove()
        db.engine.dispose()


@pytest.mark.parametrize("operation", OPERATIONS)
def test_a_member_a_device_and_a_key_get_what_their_role_gives(world: World, operation: str) -> None:
    found = {}
    for caller in sorted(TEAM_CALLERS, key=lambda item: team_expectation(operation, item) is None):
        found[caller] = read_outcome(call(world, operation, caller))
        if found[caller] is None and not operation.startswith("GET"):
            restore_tables()
    assert found == {caller: team_expectation(operation, caller) for caller in TEAM_CALLERS}


def test_without_the_guard_of_permissions_it_would_be_seen(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Access, "allows", lambda *_: True)
    assert read_outcome(call(world, "GET /api/organisations/me/members", "door")) is None
    assert team_expectation("GET /api/organisations/me/members", "door") == (403, "ROLE_NOT_ALLOWED")
