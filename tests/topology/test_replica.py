"""Public reads and reports from a replica: never older than allowed, never older than one's own change, never lost."""

import threading
import time
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from app.core import cache_invalidation
from app.core.db import db, fetch_row, read_from
from app.core.replica import Replica
from app.core.transaction import transaction
from app.web import response_cache
from tests.factories.accounts import sign_in
from tests.factories.events import create_event, create_organiser_client, create_published_event, update_event
from tests.http import Client, data
from tests.timing import assert_in_time
from tests.topology.conftest import STALENESS, Site, site_of
from tests.topology.postgres import Server
from tests.waiting import wait_until

SHEET = "sku,name,parLevel,minOrderQty,reorderLevel,onHand,reserved,damaged\nBEE-1,Lager,1,1,1,5,0,0\n"


def test_public_reads_come_from_the_replica(site: Site) -> None:
    made = create_published_event(create_organiser_client(site.client))
    site.follows()
    read = site.reads()
    assert site.name_of(made) == made["name"]
    assert data(site.client.get(f"/api/events/public/{made['id']}/ticket-inventory"))["ticketTypes"]
    assert [item["id"] for item in data(site.client.get("/api/events/public/discover"))["events"]] == [made["id"]]
    words = {"q": made["name"].split()[0]}
    assert data(site.client.get("/api/events/public/discover", query_string=words))["events"]
    assert len(read) >= 4


def test_a_public_read_is_behind_by_no_more_than_is_allowed(site: Site) -> None:
    made = create_published_event(create_organiser_client(site.client))
    site.follows()
    site.replica.stand_still()
    site.rename_elsewhere(made, "Renamed")
    since = time.monotonic()
    assert site.name_of(made) == made["name"], "the replica does not know yet, and is fresh enough"
    late = []
    while (asked := time.monotonic()) < since + STALENESS + 0.5:
        if site.name_of(made) != "Renamed":
            late.append(asked - since)
    assert max(late) <= STALENESS
    site.replica.stand_still(still=False)
    site.follows()


@pytest.mark.parametrize(("behind", "used"), [(0.3, True), (30, False)])
def test_a_replica_that_is_late_on_purpose_is_read_while_it_is_fresh_enough(
    site: Site, behind: float, used: bool
) -> None:
    """`recovery_min_apply_delay`: every commit comes that much later. Who is signed in never meets it."""
    owner = create_organiser_client(site.client)
    made = create_published_event(owner)
    site.follows()
    with site.replica.late_by(behind):
        for number in range(2):
            site.rename_elsewhere(made, f"Renamed {number}")
            since = time.monotonic()
            assert site.name_of(made, owner, fresh=False) == f"Renamed {number}", "they read their own writes"
            wait_until(lambda name=f"Renamed {number}": site.name_of(made) == name)
            assert_in_time(time.monotonic() - since <= STALENESS + 0.2)
        read = site.reads()
        site.name_of(made)
        assert bool(read) is used


@pytest.mark.control
def test_without_looking_at_it_the_replica_would_be_read_however_old_it_is(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The negative control."""
    made = create_published_event(create_organiser_client(site.client))
    site.follows()
    site.replica.stand_still()
    site.rename_elsewhere(made, "Renamed")
    monkeypatch.setattr(Replica, "is_fresh_since", lambda *_: True)
    time.sleep(STALENESS + 0.2)
    assert site.name_of(made) == made["name"]


def test_what_was_changed_on_this_machine_shows_at_once_to_everybody(site: Site) -> None:
    owner = create_organiser_client(site.client)
    made = create_published_event(owner)
    site.follows()
    site.replica.stand_still()
    assert site.name_of(made, fresh=False) == made["name"]
    update_event(owner, made, name="Renamed here")
    assert site.following.is_fresh_since(0), "the replica is fresh enough for what was not changed here"
    assert site.name_of(made, fresh=False) == "Renamed here", "what was kept is dropped, and not kept anew from before"
    assert [item["name"] for item in data(site.client.get("/api/events/public/discover"))["events"]] == ["Renamed here"]


@pytest.mark.control
def test_without_the_moment_of_the_change_it_would_not(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """The negative control."""
    owner = create_organiser_client(site.client)
    made = create_published_event(owner)
    site.follows()
    site.replica.stand_still()
    monkeypatch.setattr(cache_invalidation, "changed_at", lambda *_: 0.0)
    update_event(owner, made, name="Renamed here")
    assert site.name_of(made) == made["name"]


def test_signed_in_callers_read_their_own_writes_on_any_node(site: Site) -> None:
    owner = create_organiser_client(site.client)
    made = create_published_event(owner)
    site.follows()
    site.replica.stand_still()
    site.rename_elsewhere(made, "Renamed")
    assert site.name_of(made, fresh=False) == made["name"]
    assert site.name_of(made, owner, fresh=False) == "Renamed", "not even what is kept for others"


@pytest.mark.control
def test_with_a_cached_response_they_would_not(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """The negative control: an answer of a moment ago, made on this node before they wrote on the other one."""
    owner = create_organiser_client(site.client)
    made = create_published_event(owner)
    build_key = response_cache.build_key

    def ignore_token(environ: dict[str, Any]) -> response_cache.CacheKey | None:
        return build_key({name: value for name, value in environ.items() if name != "HTTP_AUTHORIZATION"})

    monkeypatch.setattr(response_cache, "build_key", ignore_token)
    assert site.name_of(made, owner, fresh=False) == made["name"]
    site.rename_elsewhere(made, "Renamed")
    assert site.name_of(made, owner, fresh=False) == made["name"]


def test_a_report_shows_all_that_was_committed_before_it(site: Site) -> None:
    owner = create_organiser_client(site.client)
    path = f"/api/events/{create_event(owner)['id']}/inventory"
    read = site.reads()
    assert owner.post(f"{path}/import", data=SHEET.encode(), content_type="text/csv").status_code == 200
    assert "BEE-1" in owner.get(f"{path}/export.csv").get_data(as_text=True)
    assert data(owner.get(f"{path}/reports"))["totals"]["items"] == 1
    assert read, "the replica was up to date, and did the work"


def test_a_report_does_not_wait_for_a_stopped_replica(site: Site) -> None:
    owner = create_organiser_client(site.client)
    path = f"/api/events/{create_event(owner)['id']}/inventory"
    site.follows()
    site.replica.stand_still()
    assert owner.post(f"{path}/import", data=SHEET.encode(), content_type="text/csv").status_code == 200
    began = time.monotonic()
    assert "BEE-1" in owner.get(f"{path}/export.csv").get_data(as_text=True)
    assert data(owner.get(f"{path}/reports"))["totals"]["items"] == 1
    assert_in_time(time.monotonic() - began < 2)


@pytest.mark.control
def test_without_the_position_check_a_report_would_miss_new_rows(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """The negative control."""
    owner = create_organiser_client(site.client)
    path = f"/api/events/{create_event(owner)['id']}/inventory"
    site.follows()
    site.replica.stand_still()
    assert owner.post(f"{path}/import", data=SHEET.encode(), content_type="text/csv").status_code == 200
    monkeypatch.setattr(Replica, "is_caught_up", lambda *_: True)
    assert "BEE-1" not in owner.get(f"{path}/export.csv").get_data(as_text=True)


def test_nobody_notices_when_the_replica_is_killed_and_comes_back(site: Site) -> None:
    made = create_published_event(create_organiser_client(site.client))
    site.follows()
    ended, names = threading.Event(), []

    def go() -> None:
        while not ended.is_set():
            names.append(site.name_of(made))

    threads = [threading.Thread(target=go) for _ in range(4)]
    for thread in threads:
        thread.start()
    wait_until(lambda: len(names) > 50)
    site.replica.kill()
    before = len(names)
    wait_until(lambda: len(names) > before + 100)
    site.replica.start()
    site.follows()
    read = site.reads()
    wait_until(lambda: len(read) > 20)
    ended.set()
    for thread in threads:
        thread.join(90)
    assert not any(thread.is_alive() for thread in threads)
    assert set(names) == {made["name"]}


def test_a_promoted_replica_is_read_from_no_more(site: Site, worker: str, open_folder: Path) -> None:
    made = create_published_event(create_organiser_client(site.client))
    second = Server(open_folder, "second").follow(site.primary)
    app = site_of(site.primary, second, worker, open_folder)
    try:
        with app.app_context():
            its = Site(app, Client(app.test_client()), site.primary, second)
            its.follows()
            second.promote()
            site.rename_elsewhere(made, "Renamed")
            wait_until(lambda: not its.following.is_fresh_since(0))
            assert its.name_of(made) == "Renamed"
            assert not its.following.is_caught_up()
            db.engine.dispose()
    finally:
        second.kill()


def test_a_read_that_the_replica_broke_off_is_answered_by_the_primary(site: Site) -> None:
    """Rows that a statement still needed were cleaned away: PostgreSQL ends it with 40001."""
    broken = "RAISE EXCEPTION USING ERRCODE = '40001'"
    site.primary.ask(
        "CREATE OR REPLACE FUNCTION cleaned() RETURNS int LANGUAGE plpgsql AS "
        f"$$ BEGIN IF pg_is_in_recovery() THEN {broken}; END IF; RETURN 7; END $$"
    )
    site.replica.catch_up(site.primary)
    with read_from(site.following):
        assert fetch_row("SELECT cleaned()", ()) == (7,)
        assert fetch_row("SELECT pg_is_in_recovery()", ()) == (False,), "and so are those after it"
    with read_from(site.following):
        assert fetch_row("SELECT pg_is_in_recovery()", ()) == (True,), "the replica itself is well"


def test_what_is_written_is_never_read_from_the_replica_meanwhile(site: Site) -> None:
    with read_from(site.following), transaction() as session:
        session.execute(text("CREATE TEMP TABLE mine ON COMMIT DROP AS SELECT 1 AS one"))
        assert fetch_row("SELECT one FROM mine", ()) == (1,)


def test_a_session_of_before_goes_on(site: Site) -> None:
    """Signing in and what follows never depend on how far a replica is."""
    owner = create_organiser_client(site.client)
    site.follows()
    site.replica.stand_still()
    email = data(owner.get("/api/auth/me"))["email"]
    again = site.client.as_(sign_in(site.client, email)["accessToken"])
    assert data(again.get("/api/auth/me"))["email"] == email
