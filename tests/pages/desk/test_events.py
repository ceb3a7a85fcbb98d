"""The home of the desk, the list of events, a new event and its page, as a browser without scripts uses them."""

import csv
import re
from html import unescape
from io import StringIO
from typing import Any

import pytest
from flask import Flask

from app.accounts.models import Account
from tests.counting import count_statements
from tests.factories.accounts import PASSWORD, create_account, create_customer, create_signed_in_client
from tests.factories.events import create_event, create_published_event, update_event
from tests.factories.payouts import execute_sql
from tests.http import Client, data
from tests.pages.pages import Visitor
from tests.pages.test_account_page import sign_in_browser
from tests.pages.test_stall_page import find_title
from tests.pages.test_team_pages import add_member, create_owner

HOME, EVENTS, NEW = "/desk", "/desk/events", "/desk/events/new"
TYPED = {
    "name": "River Nights",
    "startsAt": "2027-06-04T18:00",
    "endsAt": "2027-06-06T23:00",
    "venue": "River grounds",
    "city": "Windhoek",
    "country": "NA",
    "category": "music",
}
SECTIONS = {
    "owner": {"Home", "Events", "Overview", "Ticket types"},
    "manager": {"Home", "Events", "Overview", "Ticket types"},
    "finance": {"Home", "Events", "Overview", "Ticket types"},
    "door": {"Home", "Events", "Overview", "Ticket types"},
    "stock": {"Home", "Events", "Overview", "Ticket types"},
    "messages": {"Home", "Events", "Overview", "Ticket types"},
    "viewer": {"Home", "Events", "Overview", "Ticket types"},
}
"""What each role sees at least; sections with permissions of their own add to it."""
WRITERS = ("owner", "manager")


def open_as(app: Flask, client: Client, owner: Account, role: str, **fields: object) -> Visitor:
    """A browser of the owner, or of a new member with this role."""
    if role == "owner":
        return sign_in_browser(app, owner)
    member = create_customer()
    add_member(client, owner, member, role, **fields)
    return sign_in_browser(app, member)


def list_links(page: str) -> set[str]:
    navigation = page.split("<main")[0]
    return {part.split(">")[1].split("<")[0] for part in navigation.split("<li><a")[1:]}


def test_sign_in_leads_organisers_to_the_desk(visitor: Visitor, owner: Account) -> None:
    visitor.open("/sign-in")
    page = visitor.send(email=owner.email, password=PASSWORD)
    assert page.request.path == HOME and "Your desk" in page.text


def test_the_start_page_leads_organisers_and_their_members_to_the_desk(
    app: Flask, client: Client, visitor: Visitor, owner: Account
) -> None:
    link = '<a class="button" href="/desk">Your desk</a>'
    for person in (sign_in_browser(app, owner), open_as(app, client, owner, "door")):
        assert link in person.open("/").text
    for person in (visitor, sign_in_browser(app, create_customer())):
        assert "/desk" not in person.open("/").text


def test_visitor_signs_in_first_and_who_has_no_organisation_is_told(app: Flask, visitor: Visitor) -> None:
    assert visitor.flask.get(EVENTS).headers["Location"] == "/sign-in?next=/desk/events"
    for account in (create_customer(), create_account("admin", admin_tier="super_admin")):
        page = sign_in_browser(app, account).open(EVENTS)
        assert "You have no organisation yet" in page.text


@pytest.mark.parametrize("role", SECTIONS)
def test_each_role_sees_its_sections_and_may_do_its_acts(
    app: Flask, client: Client, owner: Account, organiser: Client, role: str
) -> None:
    event = create_event(organiser)
    visitor = open_as(app, client, owner, role)
    may_write = role in WRITERS
    page = visitor.open(f"{EVENTS}/{event['id']}").text
    assert SECTIONS[role] <= list_links(page)
    assert find_title(visitor.open(f"{EVENTS}/{event['id']}/ticket-types").text) == "Ticket types"
    assert ("Change the facts" in page) == ("Copy for the next year" in page) == may_write
    assert ("New event" in visitor.open(EVENTS).text) == may_write
    path = f"{EVENTS}/{event['id']}"
    pages = (NEW, *(f"{path}/{name}" for name in ("edit", "state/published", "copy", "delete", "ticket-types/new")))
    for page_path in pages:
        assert visitor.open(page_path).status_code == (200 if may_write else 403), page_path
    if not may_write:
        token = visitor.forms[0].fields["csrf_token"]
        for page_path in pages:
            answer = visitor.flask.post(page_path, data={"csrf_token": token, **TYPED})
            assert answer.status_code == 403, page_path
        assert data(organiser.get(path.replace("/desk", "/api")))["visibility"] == "draft"


def test_events_of_others_are_not_there(app: Flask, client: Client, desk: Visitor) -> None:
    other = create_signed_in_client(client, create_owner("Other"))
    event = create_event(other, name="Secret Fair")
    assert "Secret Fair" not in desk.open(EVENTS).text + desk.open(HOME).text
    for path in ("", "/edit", "/copy", "/state/published", "/ticket-types"):
        assert desk.open(f"{EVENTS}/{event['id']}{path}").status_code == 404
    assert desk.open(f"{EVENTS}/nothing").status_code == 404


def test_an_admin_with_an_organisation_sees_only_that_one(app: Flask, client: Client, organiser: Client) -> None:
    create_event(organiser, name="Secret Fair")
    account = create_account("admin", roles=["admin", "organiser"], admin_tier="super_admin")
    page = sign_in_browser(app, account).open(EVENTS)
    assert page.status_code == 200 and "Secret Fair" not in page.text


def test_a_member_of_one_event_sees_that_one(app: Flask, client: Client, owner: Account, organiser: Client) -> None:
    mine, other = create_event(organiser, name="River Nights"), create_event(organiser, name="Desert Days")
    visitor = open_as(app, client, owner, "manager", eventIds=[mine["id"]])
    page = visitor.open(HOME).text
    assert "River Nights" in page and "Desert Days" not in page and "New event" not in page
    assert visitor.open(f"{EVENTS}/{other['id']}").status_code == 404
    page = visitor.open(f"{EVENTS}/{mine['id']}").text
    assert "Change the facts" in page and "Copy for the next year" not in page
    assert visitor.open(f"{EVENTS}/{mine['id']}/copy").status_code == 403


def test_home_lists_what_waits_and_the_events(desk: Visitor, organiser: Client, client: Client) -> None:
    create_event(organiser, name="River Nights", ticketTypes=[{"name": "Day", "priceMinor": 100, "quantity": 20}])
    running = create_published_event(organiser, name="Desert Days")
    execute_sql("UPDATE event SET starts_at = now() - interval '1 hour' WHERE id = :id", id=running["id"])
    page = desk.open(HOME).text
    assert page.index("Needs you now") < page.index("draft, not published yet") < page.index("Running now")
    assert page.index("Running now") < page.index("Desert Days") < page.index("Coming") < page.rindex("River Nights")
    assert "0 of 20 tickets sold" in page


def test_home_leads_who_only_admits_to_the_gate_of_an_event_that_runs(
    app: Flask, client: Client, owner: Account, desk: Visitor, organiser: Client
) -> None:
    running, other = (create_published_event(organiser, name=name) for name in ("Desert Days", "River Nights"))
    execute_sql("UPDATE event SET starts_at = now() - interval '1 hour' WHERE id = :id", id=running["id"])
    path = f"{EVENTS}/{running['id']}/gate"
    for role in ("viewer", "manager"):
        assert path not in open_as(app, client, owner, role).open(HOME).text
    door = open_as(app, client, owner, "door")
    page = door.open(HOME).text
    assert f'href="{path}">Gate<span class="hidden"> Desert Days</span>' in page and f"{other['id']}/gate" not in page
    assert "You scan with a phone that is paired" in door.open(path).text


def test_home_shows_a_new_organiser_the_first_steps(
    app: Flask, client: Client, owner: Account, desk: Visitor, organiser: Client
) -> None:
    page = desk.open(HOME).text
    assert "First steps" in page and "Nothing needs you now" not in page and "done-word" not in page
    steps = ("/desk/settings#address", "/desk/settings/bank", NEW)
    assert all(f'<a class="plain-link" href="{path}">' in page for path in steps)
    data(organiser.patch("/api/organisations/me", {"address": "12 Sam Nujoma Drive"}))
    page = desk.open(HOME).text
    assert page.count("done-word") == 1 and '<span class="done-word">Give your address' in page
    page = open_as(app, client, owner, "manager").open(HOME).text
    assert "Create your first event" in page and "Add bank details" not in page
    assert "First steps" not in open_as(app, client, owner, "door").open(HOME).text
    create_event(organiser)
    assert "First steps" not in desk.open(HOME).text


@pytest.mark.parametrize(
    ("role", "kinds"),
    {
        "door": "conflicts at the gate.",
        "stock": "low stock.",
        "finance": "refunds that were refused, money that you owe back, overdue fees, overdue invoices, settlement reports.",
        "viewer": "",
    }.items(),
)
def test_home_names_only_what_the_role_may_do(
    app: Flask, client: Client, owner: Account, organiser: Client, role: str, kinds: str
) -> None:
    event = create_published_event(organiser, name="Desert Days")
    execute_sql(
        "UPDATE event SET ends_at = now() + interval '1 hour', starts_at = now() WHERE id = :id", id=event["id"]
    )
    visitor = open_as(app, client, owner, role)
    page = visitor.open(HOME).text
    assert "Nothing needs you now." in page and ("These appear here: " in page) == bool(kinds) and kinds in page
    execute_sql("UPDATE event SET ends_at = now() - interval '1 hour', starts_at = now() - interval '1 day'")
    page = visitor.open(HOME).text
    assert ("Make the settlement report" in page) == (role == "finance")
    assert (f'href="{EVENTS}/{event["id"]}/money"' in page) == (role == "finance")


def test_home_takes_few_statements(desk: Visitor, organiser: Client) -> None:
    for number in range(3):
        create_event(organiser, name=f"River Nights {number}")
    _, statements = count_statements(lambda: desk.flask.get(HOME))
    assert len(statements) == 5, statements
    _, statements = count_statements(lambda: desk.flask.get(EVENTS))
    assert len(statements) == 4, statements


def test_the_table_is_filtered_sorted_paged_and_downloaded(desk: Visitor, organiser: Client) -> None:
    page = desk.open(EVENTS).text
    assert "Your events appear here" in page and 'role="search"' not in page
    for number in range(52):
        create_event(organiser, name=f"=Night {number:02}", startDate="2027-06-04T18:00:00")
    create_published_event(organiser, name="River Nights")
    page = desk.open(f"{EVENTS}?sort=name").text
    assert "53 events" in page and "=Night 49" in page and "=Night 50" not in page
    assert 'aria-sort="ascending"><a href="/desk/events?sort=-name"' in page
    next_path = page.split('" rel="next"')[0].rsplit('href="', 1)[1]
    page = desk.open(next_path.replace("&amp;", "&")).text
    assert "=Night 50" in page and "=Night 49" not in page and "First page" in page and "Next page" not in page
    page = desk.open(f"{EVENTS}?state=published").text
    assert "1 event " in page and "River Nights" in page and "=Night" not in page
    page = desk.open(f"{EVENTS}?q=nights&sort=nonsense").text
    assert "1 event " in page
    assert "Nothing matches" in desk.open(f"{EVENTS}?q=nowhere").text
    answer = desk.open(f"{EVENTS}?state=broken")
    assert answer.status_code == 422 and "Choose one of the choices." in answer.text
    assert desk.open(f"{EVENTS}?cursor=broken").status_code == 422
    answer = desk.open(f"{EVENTS}?sort=name&format=csv")
    rows = list(csv.reader(StringIO(answer.data.decode("utf-8-sig"))))
    assert answer.headers["Content-Disposition"] == 'attachment; filename="events.csv"'
    assert len(rows) == 54 and rows[0][0] == "Event"
    assert rows[1][:3] == ["'=Night 00", "Draft", "2027-06-04T16:00:00.000Z"]


def test_an_event_is_created_with_what_was_typed(desk: Visitor, organiser: Client) -> None:
    desk.open(NEW)
    page = desk.send(form=1, **{**TYPED, "name": "", "endsAt": "2027-06-01T23:00", "capacity": "many"})
    assert page.status_code == 422 and "There are problems" in page.text
    assert 'value="River grounds"' in page.text and "Enter the name of the event." in page.text
    page = desk.send(form=1, **{**TYPED, "endsAt": "2027-06-01T23:00", "capacity": ""})
    assert page.status_code == 422 and 'href="#endsAt">The end must be after the start.' in page.text
    page = desk.send(form=1, **TYPED, capacity="")
    assert page.status_code == 200 and find_title(page.text) == "River Nights"
    assert "The event is created." in page.text and "Missing:" in page.text
    (event,) = data(organiser.get("/api/events?mine=true"))["events"]
    assert event["visibility"] == "draft" and event["startsAt"].startswith("2027-06-04T16:00")


def test_a_whole_number_may_have_spaces(desk: Visitor, organiser: Client) -> None:
    desk.open(NEW)
    assert "The event is created." in desk.send(form=1, **TYPED, capacity="2\u202f000").text
    (event,) = data(organiser.get("/api/events?mine=true"))["events"]
    assert data(organiser.get(f"/api/events/{event['id']}"))["capacity"] == 2000


def test_publishing_needs_what_is_missing(desk: Visitor, organiser: Client) -> None:
    event = create_event(organiser)
    path = f"{EVENTS}/{event['id']}"
    page = desk.open(path).text
    assert f'href="{path}/ticket-types">A ticket type, or a capacity' in page
    desk.open(f"{path}/state/published")
    page = desk.send(form=1)
    assert page.status_code == 409 and "Not done." in page.text
    update_event(organiser, event, capacity=100)
    assert "See the public page" not in desk.open(path).text
    desk.open(f"{path}/state/published")
    page = desk.send(form=1)
    assert page.status_code == 200 and "The event is published." in page.text and "Show by link only" in page.text
    public_path = page.text.split('">See the public page')[0].rsplit('href="', 1)[1]
    assert public_path.startswith("/e/") and desk.open(public_path).status_code == 200
    assert desk.open(f"{path}/state/draft").status_code == 404
    desk.open(f"{path}/state/cancelled")
    assert "cannot undo this" in desk.page.text
    assert "The event is cancelled." in desk.send(form=1).text
    page = desk.open(path).text
    assert "Change the state" not in page and "See the public page" not in page


def test_an_event_that_begins_in_the_past_is_warned_about_and_never_refused(desk: Visitor, organiser: Client) -> None:
    warning = "This event begins in the past. Check when it starts."
    desk.open(NEW)
    page = desk.send(form=1, **{**TYPED, "startsAt": "2026-06-04T18:00"})
    assert page.status_code == 200 and "The event is created." in page.text and page.text.count(warning) == 1
    path = page.request.path
    place = {"country": "NA", "timezone": "Africa/Windhoek"}
    desk.open(f"{path}/edit")
    assert warning in desk.send(form=1, capacity="500", **place).text
    assert warning in desk.open(f"{path}/state/published").text
    page = desk.send(form=1)
    assert "The event is published." in page.text and warning not in page.text
    desk.open(f"{path}/edit")
    past = "This event is in the past: nobody can apply for a stall or claim a ticket. Check its times."
    assert past in desk.send(form=1, startsAt="2026-06-01T18:00", endsAt="2026-06-02T18:00", **place).text
    desk.open(f"{path}/edit")
    page = desk.send(form=1, startsAt=TYPED["startsAt"], endsAt=TYPED["endsAt"], **place)
    assert "The facts are saved." in page.text and "in the past" not in page.text
    assert warning not in desk.open(f"{path}/state/unlisted").text


def test_what_most_events_have_is_suggested_before_publishing(
    app: Flask, client: Client, owner: Account, desk: Visitor, organiser: Client
) -> None:
    event = create_event(organiser, capacity=100)
    path = f"{EVENTS}/{event['id']}"
    links = {f"{path}/edit#ticketsUrl", "/desk/settings#contactEmail", "/desk/settings/bank", f"{path}/stalls/types"}
    links.add(f"{path}/gate/reentry")
    page = desk.open(path).text
    assert page.count("Optional:") == 5 and f"A public contact address; now it is {owner.email}" in page
    assert "Missing:" not in page
    assert all(f'Optional:</span> <a class="plain-link" href="{link}"' in page for link in links)
    manager = open_as(app, client, owner, "manager")
    assert "Bank details" not in manager.open(path).text, "only the owner changes them"
    stall_types = [{"name": "Food", "feeMinor": 250000}]
    update_event(organiser, event, ticketsUrl="https://tickets.example/river", stallTypes=stall_types)
    page = desk.open(path).text
    assert page.count("Optional:") == 3 and '<span class="done-word">Stall types' in page
    desk.open(f"{path}/state/published")
    assert "Optional:" not in desk.send(form=1).text


def test_the_figure_of_sold_tickets_leads_to_the_sales(desk: Visitor, organiser: Client) -> None:
    event = create_event(organiser, ticketTypes=[{"name": "Day", "priceMinor": 100, "quantity": 20}])
    page = desk.open(f"{EVENTS}/{event['id']}").text
    assert f'<dt>Sold</dt><dd><a href="{EVENTS}/{event["id"]}/sales">0</a>' in page


def test_what_is_still_free_is_limited_by_the_capacity(desk: Visitor, organiser: Client) -> None:
    types = [{"name": name, "priceMinor": 100, "quantity": 20} for name in ("Day", "Weekend")]
    limit = ' <span class="unit">within the capacity of 30</span>'
    for fields, free in (({"capacity": 30}, f"30{limit}"), ({}, "40")):
        event = create_event(organiser, ticketTypes=types, **fields)
        assert f"<dt>Still free</dt><dd>{free}</dd>" in desk.open(f"{EVENTS}/{event['id']}").text


def test_a_one_day_event_has_no_hint_about_the_next_day(desk: Visitor, organiser: Client) -> None:
    event = create_event(organiser, startDate="2027-06-04T18:00:00", endDate="2027-06-04T23:00:00")
    assert "gate/reentry" not in desk.open(f"{EVENTS}/{event['id']}").text


def test_a_change_by_somebody_else_is_not_undone(desk: Visitor, organiser: Client) -> None:
    event = create_event(organiser, capacity=50)
    path = f"{EVENTS}/{event['id']}/edit"
    desk.open(path)
    update_event(organiser, event, city="Swakopmund")
    page = desk.send(form=1, city="Walvis Bay", category="", country="NA", timezone="Africa/Windhoek")
    assert page.status_code == 412 and "Somebody else has changed this in the meantime" in page.text
    assert "Open the page again" in page.text and 'value="Walvis Bay"' in page.text
    assert data(organiser.get(f"/api/events/{event['id']}"))["city"] == "Swakopmund"
    desk.open(path)
    page = desk.send(
        form=1, city="Walvis Bay", capacity="", category="", country="NA", timezone="Africa/Windhoek", reentry="none"
    )
    assert "The facts are saved." in page.text
    saved = data(organiser.get(f"/api/events/{event['id']}"))
    assert (saved["city"], saved["capacity"], saved["startsAt"]) == ("Walvis Bay", None, event["startsAt"])


def test_ticket_types_and_phases_are_changed_one_at_a_time(desk: Visitor, organiser: Client) -> None:
    event: dict[str, Any] = create_event(organiser)
    path = f"{EVENTS}/{event['id']}/ticket-types"
    read = f"/api/events/{event['id']}"
    desk.open(f"{path}/new")
    page = desk.send(form=1, name="Weekend", price="x", quantity="10", minPerOrder="5", maxPerOrder="2")
    assert page.status_code == 422 and "Enter an amount like 450" in page.text
    page = desk.send(form=1, name="Weekend", price="450.50", quantity="10", minPerOrder="5", maxPerOrder="2")
    assert page.status_code == 422 and 'href="#maxPerOrder"' in page.text
    page = desk.send(form=1, name="Weekend", price="450.50", quantity="10", minPerOrder="", maxPerOrder="")
    assert "The ticket type is added." in page.text
    (weekend,) = data(organiser.get(read))["ticketTypes"]
    assert (weekend["priceMinor"], weekend["quantity"]) == (45050, 10)
    desk.open(f"{path}/new")
    page = desk.send(form=1, name="Weekend", price="1", quantity="1")
    assert page.status_code == 422 and "The event has a ticket type with this name." in page.text
    desk.open(f"{path}/{weekend['id']}/phases/new")
    assert "The phase is added." in desk.send(form=1, name="Early bird", price="300", quantity="5").text
    desk.open(f"{path}/{weekend['id']}")
    assert "The ticket type is saved." in desk.send(form=1, price="500").text
    (weekend,) = data(organiser.get(read))["ticketTypes"]
    assert weekend["priceMinor"] == 50000 and [phase["name"] for phase in weekend["phases"]] == ["Early bird"]
    desk.open(f"{path}/{weekend['id']}/phases/0")
    assert "The phase is saved." in desk.send(form=1, price="350").text
    desk.open(f"{path}/{weekend['id']}/phases/0/remove")
    update_event(organiser, event, city="Swakopmund")
    page = desk.send(form=1)
    assert page.status_code == 412 and "Somebody else has changed this" in page.text
    desk.open(f"{path}/{weekend['id']}/phases/0/remove")
    assert "The phase is removed." in desk.send(form=1).text
    assert desk.open(f"{path}/{weekend['id']}/phases/0").status_code == 404
    desk.open(f"{path}/{weekend['id']}/remove")
    assert "The ticket type is removed." in desk.send(form=1).text
    assert desk.open(f"{path}/{weekend['id']}").status_code == 404


def test_a_day_ticket_is_copied_for_the_next_day(desk: Visitor, organiser: Client) -> None:
    times = {"startDate": "2027-05-07T15:00", "endDate": "2027-05-09T22:00"}
    friday = {"name": "Friday", "priceMinor": 30000, "quantity": 10, "validFrom": "2027-05-07T15:00+02:00"}
    event = create_event(organiser, **times, ticketTypes=[friday])
    path = f"{EVENTS}/{event['id']}/ticket-types"
    copy = unescape(re.findall(r'href="([^"]*copy=[^"]*)"', desk.open(path).text)[0])
    assert 'value="2027-05-08T15:00"' in desk.open(copy).text
    assert "Enter a name." in desk.send(form=1).text
    assert "The ticket type is added." in desk.send(form=1, name="Saturday").text
    saturday = data(organiser.get(f"/api/events/{event['id']}"))["ticketTypes"][1]
    assert (saturday["name"], saturday["priceMinor"], saturday["quantity"]) == ("Saturday", 30000, 10)
    assert (saturday["validFrom"], saturday["validUntil"]) == ("2027-05-08T13:00:00.000Z", None)
    assert desk.open(f"{path}/new?copy={event['id']}").status_code == 404


def test_a_copied_day_ticket_keeps_its_time_when_clocks_change(desk: Visitor, organiser: Client) -> None:
    saturday = {"name": "Saturday", "priceMinor": 100, "quantity": 5, "validFrom": "2027-10-30T18:00:00+02:00"}
    times = {"startDate": "2027-10-29T18:00", "endDate": "2027-11-01T20:00", "timezone": "Europe/Berlin"}
    event = create_event(organiser, **times, country="DE", ticketTypes=[saturday])
    desk.open(f"{EVENTS}/{event['id']}/ticket-types/new?copy={event['ticketTypes'][0]['id']}")
    assert desk.forms[1].fields["validFrom"] == "2027-10-31T18:00"


def test_the_form_says_what_the_price_and_the_limits_of_an_order_are(desk: Visitor, organiser: Client) -> None:
    event = create_event(organiser)
    page = desk.open(f"{EVENTS}/{event['id']}/ticket-types/new").text
    assert "With VAT, if you are registered for it." in page and page.count("Set the limit in your shop too") == 2


def test_the_page_says_which_price_applies_when(desk: Visitor, organiser: Client) -> None:
    ticket_type = {"name": "Day", "priceMinor": 30000, "quantity": 10}
    early = {"name": "Early", "priceMinor": 10000, "quantity": 5}
    is_open = {"name": "Open", "priceMinor": 20000}
    event = create_event(organiser, ticketTypes=[{**ticket_type, "phases": [early]}])
    path = f"{EVENTS}/{event['id']}/ticket-types"

    def read_after(*phases: dict[str, Any]) -> str:
        update_event(organiser, event, ticketTypes=[{**ticket_type, "phases": list(phases)}])
        return " ".join(desk.open(path).text.split())

    page = read_after(early)
    assert "When no phase applies, a ticket costs N$ 300.00." in page and "never applies" not in page
    page = read_after(early, is_open)
    assert "Open: N$ 200.00, for all tickets until the sale ends" in page
    assert "N$ 300.00 never applies, because Open has no limit and no end." in page
    page = read_after({**is_open, "startsAt": "2027-05-01"}, early)
    assert "Once Open begins, it sets the price until the sale ends" in page and "It never applies" not in page
    assert "It never applies: Open comes before it, without a limit" in read_after(is_open, early)
    ends = {"name": "Long", "priceMinor": 20000, "endsAt": "2027-03-05"}
    page = read_after(ends, {"name": "Short", "priceMinor": 25000, "endsAt": "2027-03-01"})
    assert "It never applies: Long comes before it, without a limit" in page


def test_an_event_is_copied_and_a_draft_deleted(desk: Visitor, organiser: Client) -> None:
    event = create_published_event(organiser, name="Windhoek Lights 2027")
    desk.open(f"{EVENTS}/{event['id']}/copy")
    page = desk.send(form=1)
    assert find_title(page.text) == "Windhoek Lights 2028" and "This is the copy." in page.text
    desk.open(f"{page.request.path}/delete")
    assert "The event is deleted." in desk.send(form=1).text


def test_a_broken_hidden_field_says_to_open_the_page_again(desk: Visitor, organiser: Client) -> None:
    event = create_event(organiser)
    desk.open(f"{EVENTS}/{event['id']}/edit")
    page = desk.send(form=1, country="NA", timezone="Africa/Windhoek", version="x")
    assert page.status_code == 422 and "<li>This form does not work any more. Open the page again.</li>" in page.text
