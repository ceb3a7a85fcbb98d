"""Team, keys, audit trail and settings at the desk: what each role sees and is refused."""

import csv
from io import StringIO

import pytest
from flask import Flask

from app.accounts.models import Account
from tests.counting import count_statements, record_statements
from tests.factories.accounts import create_customer, create_signed_in_client
from tests.factories.allocations import create_block
from tests.factories.events import create_event, create_published_event, update_event
from tests.factories.payouts import execute_sql, fetch_scalar
from tests.http import Client, data
from tests.pages.desk.test_events import list_links, open_as
from tests.pages.pages import Visitor
from tests.pages.test_account_page import sign_in_browser
from tests.pages.test_team_pages import add_member, create_owner, press
from tests.teams.test_api_keys import make_key

AUDIT, DEVICES, KEYS, SETTINGS, TEAM = "/desk/audit", "/desk/devices", "/desk/keys", "/desk/settings", "/desk/team"
READERS = {
    TEAM: {"owner", "manager"},
    AUDIT: {"owner", "manager", "finance"},
    DEVICES: {"owner", "manager"},
    KEYS: {"owner"},
    SETTINGS: {"owner"},
    f"{SETTINGS}/bank": {"owner"},
}
LINKS = {TEAM: "Team", AUDIT: "Audit trail", SETTINGS: "Settings"}
ROLES = ("owner", "manager", "finance", "door", "stock", "messages", "viewer")


def add_key(organiser: Client) -> str:
    """The id of a new key."""
    make_key(organiser, "gate")
    return str(fetch_scalar("SELECT id FROM api_key"))


@pytest.mark.parametrize("role", ROLES)
def test_each_role_opens_what_it_may(app: Flask, client: Client, owner: Account, organiser: Client, role: str) -> None:
    member = create_customer()
    add_member(client, owner, member, "door")
    member_id = fetch_scalar("SELECT id FROM team_member")
    key_id = add_key(organiser)
    visitor = open_as(app, client, owner, role)
    links = list_links(visitor.open("/desk").text)
    for path, readers in READERS.items():
        assert visitor.open(path).status_code == (200 if role in readers else 403), path
        if path in LINKS:
            assert (LINKS[path] in links) == (role in readers), path
    is_owner = role == "owner"
    assert visitor.open(f"{TEAM}/members/{member_id}").status_code == (200 if is_owner else 403)
    visitor.open("/desk")
    token = visitor.forms[0].fields["csrf_token"]
    acts = (
        KEYS,
        f"{KEYS}/{key_id}/end",
        SETTINGS,
        f"{SETTINGS}/bank",
        f"{TEAM}/invite",
        f"{TEAM}/second-factor",
        f"{TEAM}/members/{member_id}/owner",
        f"{TEAM}/members/{member_id}/role",
        f"{TEAM}/members/{member_id}/remove",
    )
    for path in acts:
        status = visitor.flask.post(path, data={"csrf_token": token}).status_code
        assert (status == 403) == (role != "owner"), (path, status)


def test_things_of_other_organisations_are_not_there(app: Flask, client: Client, desk: Visitor) -> None:
    other = create_owner("Other")
    stranger = create_signed_in_client(client, other)
    event = create_event(stranger, name="Secret Fair")
    key_id = add_key(stranger)
    add_member(client, other, create_customer())
    member_id = fetch_scalar("SELECT id FROM team_member")
    for path in (
        f"{KEYS}/{key_id}/end",
        f"{TEAM}/members/{member_id}",
        f"{TEAM}/members/nothing",
        f"{AUDIT}?eventId={event['id']}",
    ):
        assert desk.open(path).status_code == 404, path
    assert "Secret Fair" not in desk.open(AUDIT).text + desk.open(DEVICES).text


def test_a_key_is_ended_after_a_question(desk: Visitor, organiser: Client) -> None:
    key_id = add_key(organiser)
    assert "Programs with this key lose access immediately" in desk.open(f"{KEYS}/{key_id}/end").text
    assert "The key is ended." in press(desk, "/end")
    assert desk.open(f"{KEYS}/{key_id}/end").status_code == 404


def test_the_trail_says_what_was_changed_in_an_event(desk: Visitor, organiser: Client) -> None:
    event = create_published_event(organiser, stallTypes=[{"name": "Food", "feeMinor": 100000}])
    phase = {"name": "Early bird", "priceMinor": 60000, "quantity": 20, "endsAt": "2027-05-01T12:00:00"}
    ticket_types = [{"name": "Weekend pass", "priceMinor": 95000, "quantity": 100, "phases": [phase]}]
    update_event(
        organiser, event, startDate="2027-06-05T18:00:00", capacity=5000, isCashless=True, description="Two nights."
    )
    update_event(organiser, event, ticketTypes=ticket_types, promoCodes=[{"code": "HUSH", "percentOff": 10}])
    update_event(organiser, event, stallTypes=[], country="ZA", reentry="free", visibility="unlisted")
    desk.open(f"/desk/events/{event['id']}/copy")
    desk.send(form=1)
    page = desk.open(AUDIT)
    for text in (
        "Facts of the event changed",
        "Description; Starts 4 Jun 2027, 18:00 → 5 Jun 2027, 18:00; Capacity – → 5 000; Cashless No → Yes",
        "Weekend pass: Price N$ 850.00 → N$ 950.00; Phases – → Early bird N$ 600.00 20 tickets until 1 May 2027, 12:00",
        "Food: Fee N$ 1 000.00",
        "1 added, 0 changed, 0 removed",
        "Country Namibia → South Africa; Entering again Each ticket admits once → As often as guests like",
        "Unlisted",
        f"Copy of {event['name']}",
    ):
        assert text in " ".join(page.text.split()), text
    assert "HUSH" not in page.text


def test_the_trail_names_what_it_was_done_on(client: Client, organiser: Client, desk: Visitor) -> None:
    block = create_block(client, owner=organiser, name="Bank Oshana")
    data(block.change(notes="Two tables", quantity=8, kind="press"))
    data(
        client.post(
            f"/api/allocations/allocator/{block.allocator()}/guests",
            {"recipients": [{"name": "Tuli", "delivery": "will_call"}]},
        )
    )
    (slot,) = block.now(status="claimed")["slots"]
    data(block.admit(slot["id"], gate="North"))
    data(block.post("release-unused", quantity=2))
    page = " ".join(desk.open(AUDIT).text.split())
    for text in ("block: Bank Oshana", "Kind, Notes, Places", "place: Tuli · Bank Oshana", "North", "Places: 2"):
        assert text in page, text
    assert f'/desk/events/{block.event["id"]}/guests/{block.id}"' in page and "allocator_" not in page
    with record_statements() as executed:
        desk.open(AUDIT)
    assert len(executed) <= 12
    assert "place: Tuli · Bank Oshana" in desk.open(f"{AUDIT}?format=csv").text
    execute_sql("UPDATE allocation_slot SET name = NULL, email = NULL")
    assert "Tuli" not in desk.open(AUDIT).text


def test_the_trail_names_members(client: Client, owner: Account, desk: Visitor) -> None:
    member = create_customer(name="Tuli Hamutenya")
    add_member(client, owner, member)
    member_id = fetch_scalar("SELECT id FROM team_member WHERE role <> 'owner'")
    desk.open(f"{TEAM}/members/{member_id}")
    desk.send(form=1, role="finance")
    assert "member: Tuli Hamutenya" in " ".join(desk.open(f"{AUDIT}?action=access.member_changed").text.split())


def test_the_trail_is_filtered_by_person_event_action_and_time(
    app: Flask, client: Client, owner: Account, organiser: Client, desk: Visitor
) -> None:
    manager = create_customer(name="Tuli Hamutenya")
    add_member(client, owner, manager)
    first = create_event(organiser, name="River Nights")
    create_published_event(create_signed_in_client(client, manager), name="Desert Days")

    def list_cells(query: str) -> list[list[str]]:
        page = desk.open(f"{AUDIT}?{query}&format=csv")
        return list(csv.reader(StringIO(page.data.decode("utf-8-sig"))))[1:]

    whole = desk.open(AUDIT).text
    assert "Event published" in whole
    assert {"River Nights", "Desert Days"} <= {row[4] for row in list_cells("")}
    assert {row[2] for row in list_cells(f"actor={manager.id}")} == {"Tuli Hamutenya"}
    assert {row[4] for row in list_cells(f"eventId={first['id']}")} == {"River Nights"}
    assert {row[1] for row in list_cells("action=access.member_joined")} == {"Member joined"}
    assert list_cells("area=messages") == [] and list_cells("from=2020-01-01T00:00&to=2020-02-01T00:00") == []
    assert fetch_scalar("SELECT count(*) FROM audit_entry WHERE action = 'exports.audit'") == 6
    page = desk.open(f"{AUDIT}?actor=nonsense")
    assert page.status_code == 422 and 'href="#actor"' in page.text


@pytest.mark.parametrize("path", [TEAM, AUDIT, DEVICES, KEYS, SETTINGS])
def test_each_page_takes_few_statements(desk: Visitor, organiser: Client, path: str) -> None:
    create_event(organiser)
    add_key(organiser)
    page, statements = count_statements(lambda: desk.flask.get(path))
    assert page.status_code == 200 and len(statements) <= 9, statements


def test_settings_say_how_long_data_is_kept(desk: Visitor) -> None:
    page = desk.open(SETTINGS).text
    assert "erased 400 days after the event" in page and "erased after 90 days" in page
    assert "erased after 5 years" in page


def test_a_member_without_the_required_second_factor_learns_why(app: Flask, client: Client, owner: Account) -> None:
    member = create_customer()
    add_member(client, owner, member)
    execute_sql("UPDATE organiser_profile SET requires_second_factor = true")
    page = sign_in_browser(app, member).open(TEAM).text
    assert "Turn on a second factor" in page and "Turn it on to use the desk." in page
    assert data(create_signed_in_client(client, owner).get("/api/organisations/me"))["requiresSecondFactor"]
