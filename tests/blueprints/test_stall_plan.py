"""The stalls of an event for its organiser: who is open now, and the stall plan."""

from threading import Barrier, Thread
from typing import Any

from flask import Flask

from tests.factories.events import create_organiser_client, create_published_event
from tests.factories.merchants import create_participant
from tests.http import Client, data


def create_stalls(client: Client, count: int) -> tuple[Client, str, list[Any]]:
    owner = create_organiser_client(client)
    event = create_published_event(owner)
    stalls = [create_participant(client, owner, event["id"], business_name=f"Grill {n}") for n in range(count)]
    return owner, f"/api/events/{event['id']}/stalls", stalls


def test_a_stall_gets_its_place_and_another_cannot_have_its_number(client: Client) -> None:
    owner, path, [(merchant, account), (_, other)] = create_stalls(client, 2)
    place = {"stallNumber": "B12", "power": "16 A", "water": True, "note": "Beside the gate"}
    row = data(owner.patch(f"{path}/{account.id}", place))
    assert place.items() <= row.items() and row["version"] == 2
    assert data(owner.patch(f"{path}/{account.id}", place))["version"] == 2
    answer = owner.patch(f"{path}/{other.id}", {"stallNumber": "b12"})
    assert answer.status_code == 422 and answer.get_json()["data"]["errors"][0]["path"] == "stallNumber"
    stale = owner.patch(f"{path}/{account.id}", {"power": None}, headers={"If-Match": '"1"'})
    assert stale.status_code == 412
    assert data(owner.patch(f"{path}/{account.id}", {"stallNumber": None, "water": False}))["stallNumber"] is None
    assert data(owner.patch(f"{path}/{other.id}", {"stallNumber": "b12"}))["stallNumber"] == "b12"
    data(merchant.patch("/api/merchants/me/pos-floor-status", {"status": "open"}))
    (row,) = data(owner.get(f"{path}?floorStatus=open"))["stalls"]
    assert row["id"] == account.id and row["power"] == "16 A"
    assert len(data(owner.get(f"{path}?sort=stallNumber"))["stalls"]) == 2
    assert len(data(owner.get(f"{path}?q=B12"))["stalls"]) == 1


def test_others_do_not_see_or_change_the_plan(client: Client) -> None:
    owner, path, [(merchant, account)] = create_stalls(client, 1)
    stranger = create_organiser_client(client)
    assert stranger.get(path).status_code == stranger.patch(f"{path}/{account.id}", {"power": "1"}).status_code == 404
    assert merchant.patch(f"{path}/{account.id}", {"power": "1"}).status_code == 403
    assert owner.patch(f"{path}/{'0' * 24}", {"power": "1"}).status_code == 404


def test_one_of_several_stalls_gets_a_number_at_once(app: Flask, client: Client) -> None:
    owner, path, stalls = create_stalls(client, 4)
    barrier, statuses = Barrier(4), []

    def place(merchant_id: str) -> None:
        barrier.wait()
        client_of_thread = Client(app.test_client(), owner.headers)
        statuses.append(client_of_thread.patch(f"{path}/{merchant_id}", {"stallNumber": "A1"}).status_code)

    threads = [Thread(target=place, args=(account.id,)) for _, account in stalls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(statuses) == [200, 422, 422, 422]
