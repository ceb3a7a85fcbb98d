"""The snapshot of a gate: what a device without a network knows of its event."""

import gzip
import hashlib
from base64 import urlsafe_b64encode
from typing import Any

import orjson
import pytest
from sqlalchemy import text
from werkzeug.test import TestResponse

from app.core.change_positions import load_position
from app.core.db import db, transaction_engine
from tests.factories.allocations import Block, claim_slot, create_another_block, create_block
from tests.factories.events import create_organiser_client
from tests.factories.tickets import add_tickets
from tests.http import Client, data, read_error
from tests.streams import Event, events_of

FIELDS = (
    "id", "kind", "hash", "name", "type", "state", "party", "admittedAt", "gate", "validFrom", "validUntil", "leftAt"
)  # fmt: skip


@pytest.fixture
def block(client: Client) -> Block:
    return create_block(client)


def get_snapshot(block: Block, since: str | None = None, **headers: str) -> TestResponse:
    query = {"since": since} if since else {}
    response: TestResponse = block.owner.get(f"{_path(block)}/snapshot", query_string=query, headers=headers)
    return response


def read_stream(block: Block, position: str) -> list[Event]:
    response = block.owner.get(f"{_path(block)}/stream", headers={"Last-Event-ID": position})
    with response:
        return list(events_of([response.get_data()]))


def list_places(snapshot: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {place[0]: dict(zip(FIELDS, place, strict=True)) for place in snapshot["places"]}


def hash_code(snapshot: dict[str, Any], code: str) -> str:
    return urlsafe_b64encode(hashlib.sha256((snapshot["salt"] + code).encode()).digest()[:12]).decode()


def _path(block: Block) -> str:
    return f"/api/events/{block.event['id']}/admissions"


def test_it_has_every_place_with_the_hash_of_its_code(block: Block) -> None:
    claim_code, _ = block.codes(2)
    claimed = data(claim_slot(block.owner, claim_code, name="Helvi Shaanika"))
    tickets = add_tickets(block.event, "s6ecmvmmpdgsxf3r", name="Zoë Beukes")
    snapshot = data(get_snapshot(block))
    places = list_places(snapshot)
    assert len(places) == 2, "the code of an invitation opens the claim, so no phone has it"
    assert snapshot["full"] and snapshot["removed"] == []
    assert snapshot["event"]["id"] == block.event["id"] and snapshot["event"]["reentry"] == "none"
    assert [row["id"] for row in snapshot["ticketTypes"]] == [row["id"] for row in block.event["ticketTypes"]]
    slot = places[claimed["slotId"]]
    assert (slot["kind"], slot["state"], slot["name"]) == ("a", "c", "Helvi Shaanika")
    assert slot["hash"] == hash_code(snapshot, claimed["code"])
    assert snapshot["ticketTypes"][slot["type"]]["id"] == block.ticket_type_id
    ticket = places[tickets["s6ecmvmmpdgsxf3r"]]
    assert (ticket["kind"], ticket["state"], ticket["name"]) == ("t", "c", "Zoë Beukes")
    assert ticket["hash"] == hash_code(snapshot, "s6ecmvmmpdgsxf3r")
    assert "s6ecmvmmpdgsxf3r" not in get_snapshot(block).get_data(as_text=True)


def test_each_session_has_its_own_salt(block: Block, client: Client) -> None:
    first, again = data(get_snapshot(block))["salt"], data(get_snapshot(block))["salt"]
    device = data(block.owner.post(f"/api/events/{block.event['id']}/devices", {"kind": "gate", "name": "A"}), 201)
    token = data(client.post("/api/devices/pair", {"code": device["pairingCode"]}))["deviceToken"]
    of_device = data(client.as_(token).get(f"{_path(block)}/snapshot"))
    assert first == again and of_device["salt"] != first


def test_it_then_has_only_what_changed(block: Block) -> None:
    admitted, revoked, untouched = block.claimed(3)
    tickets = add_tickets(block.event, "known")
    position = data(get_snapshot(block))["position"]
    assert data(get_snapshot(block, position))["places"] == []
    data(block.admit(admitted, gate="North"))
    data(block.revoke(revoked))
    new = add_tickets(block.event, "new")
    snapshot = data(get_snapshot(block, position))
    places = list_places(snapshot)
    assert not snapshot["full"]
    assert {id: place["state"] for id, place in places.items()} == {admitted: "a", revoked: "r", new["new"]: "c"}
    assert places[admitted]["gate"] == "North" and places[admitted]["admittedAt"]
    assert untouched not in places and tickets["known"] not in places
    assert data(get_snapshot(block, snapshot["position"]))["places"] == []


def test_a_place_that_was_taken_back_is_revoked(block: Block) -> None:
    path = f"/api/allocations/allocator/{block.allocator()}"
    slot_id = data(block.owner.post(path, {"name": "Elago", "email": "elago@example.com"}))["slotId"]
    snapshot = data(get_snapshot(block))
    assert list(list_places(snapshot)) == [slot_id]
    data(block.owner.post(path, {"slotId": slot_id, "action": "take_back"}))
    assert list_places(data(get_snapshot(block, snapshot["position"])))[slot_id]["state"] == "r"


def test_free_places_of_a_new_block_are_no_change(block: Block) -> None:
    position = data(get_snapshot(block))["position"]
    create_another_block(block, quantity=5)
    snapshot = data(get_snapshot(block, position))
    assert (snapshot["full"], snapshot["removed"], snapshot["places"]) == (False, [], [])


def test_it_is_whole_for_a_position_that_is_unusable(block: Block) -> None:
    block.claimed(1)
    old = f"1764000000-{load_position().partition('-')[2]}"
    for since in ("nonsense", old, "1764956400-1:0:"):
        snapshot = data(get_snapshot(block, since))
        assert snapshot["full"] and len(snapshot["places"]) == 1


def test_it_is_whole_when_too_much_changed(block: Block) -> None:
    position = data(get_snapshot(block))["position"]
    add_tickets(block.event, *(f"secret-{number}" for number in range(2001)))
    snapshot = data(get_snapshot(block, position))
    assert snapshot["full"] and len(snapshot["places"]) == 2001


def test_it_is_not_sent_again_while_nothing_changed(block: Block) -> None:
    block.claimed(1)
    tag = get_snapshot(block).headers["ETag"]
    assert get_snapshot(block, **{"If-None-Match": tag}).status_code == 304
    block.claimed(1)
    assert get_snapshot(block, **{"If-None-Match": tag}).status_code == 200


def test_it_is_compressed_for_who_accepts_that(block: Block) -> None:
    block.claimed(2)
    response = get_snapshot(block, **{"Accept-Encoding": "gzip"})
    assert response.headers["Content-Encoding"] == "gzip" and "Accept-Encoding" in response.headers["Vary"]
    assert len(orjson.loads(gzip.decompress(response.get_data()))["data"]["places"]) == 2


def test_others_get_nothing(block: Block, client: Client) -> None:
    stranger = create_organiser_client(client)
    assert read_error(stranger.get(f"{_path(block)}/snapshot")) == (404, "NOT_FOUND")
    assert read_error(stranger.get(f"{_path(block)}/stream")) == (404, "NOT_FOUND")
    assert client.get(f"{_path(block)}/snapshot").status_code == 401


def test_the_stream_follows_from_a_position(block: Block) -> None:
    (revoked,) = block.claimed(1)
    snapshot = data(get_snapshot(block))
    data(block.revoke(revoked))
    (event,) = read_stream(block, snapshot["position"])
    assert event.name == "changes" and event.id
    assert {id: place["state"] for id, place in list_places(event.data).items()} == {revoked: "r"}
    assert list_places(event.data)[revoked]["hash"] == list_places(snapshot)[revoked]["hash"]
    assert read_stream(block, event.id) == []


def test_the_stream_sends_a_device_with_an_old_position_to_the_snapshot(block: Block) -> None:
    assert [event.name for event in read_stream(block, "nonsense")] == ["resync", "snapshot"]


def test_a_transaction_that_commits_late_is_not_lost(block: Block) -> None:
    (slot,) = block.claimed(1)
    with transaction_engine(db.engine).connect() as slow, slow.begin():
        slow.execute(
            text("""INSERT INTO allocation_slot_event (event_id, slot_id, block_id, verb, to_status, actor)
                    VALUES (:event, :slot, :block, 'rename', 'claimed', 'service')"""),
            {"event": block.event["id"], "slot": slot, "block": block.id},
        )
        position = data(get_snapshot(block))["position"]
        assert data(get_snapshot(block, position))["places"] == []
    assert list(list_places(data(get_snapshot(block, position)))) == [slot]


def test_a_large_event_costs_few_seconds_and_bytes(block: Block) -> None:
    secrets = [hashlib.sha256(str(number).encode()).hexdigest()[:32] for number in range(20_000)]
    add_tickets(block.event, *secrets, name="Ndapewa Amutenya-Shaanika")
    body = get_snapshot(block, **{"Accept-Encoding": "gzip"}).get_data()
    assert len(body) < 20_000 * 50, "5 MB for 100,000 tickets"
