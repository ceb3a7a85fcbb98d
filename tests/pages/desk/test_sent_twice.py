"""Forms of the desk that are sent twice: they do what they say once, and the second answer is the first's."""

from typing import Any

from tests.factories.accounts import PASSWORD, list_mails_to, run_jobs
from tests.factories.applications import decide_application
from tests.factories.campaigns import CampaignEvent
from tests.factories.events import create_event, create_published_event
from tests.http import Client, data
from tests.pages.desk.test_events import EVENTS, NEW, TYPED
from tests.pages.desk.test_messages import FILLED
from tests.pages.desk.test_stalls import STALL_TYPES, apply, build_path, read
from tests.pages.desk.test_stock import DeskStock, fill, find_form
from tests.pages.pages import Visitor

JUNE = "2027-06-01T18:00"


def press_twice(desk: Visitor, path: str, *, form: int = 1, **typed: Any) -> tuple[Any, Any]:
    """The two answers to a form that is sent twice."""
    desk.open(path)
    return desk.press(form=form, **typed), desk.press(form=form, **typed)


def lead_to_the_same(first: Any, second: Any) -> bool:
    return bool(first.status_code == second.status_code == 303 and first.location == second.location)


def test_a_link_is_mailed_once(client: Client, organiser: Client, desk: Visitor) -> None:
    event = create_published_event(organiser, stallTypes=STALL_TYPES)
    application = apply(client, event)
    decide_application(organiser, application, documentsRequired=[])
    before = len(list_mails_to("kapana@stalls.example"))
    first, second = press_twice(desk, f"{build_path(event, application)}/links", purpose="payment")
    assert first.status_code == second.status_code == 200 and "Mailed to kapana@stalls.example" in second.text
    assert first.text.split('id="link"')[1] == second.text.split('id="link"')[1]
    assert len(list_mails_to("kapana@stalls.example")) == before + 1


def test_a_decision_is_made_once(client: Client, organiser: Client, desk: Visitor) -> None:
    event = create_published_event(organiser, stallTypes=STALL_TYPES)
    path = build_path(event, application := apply(client, event))
    assert lead_to_the_same(*press_twice(desk, f"{path}/decide/decline"))
    assert lead_to_the_same(*press_twice(desk, f"{path}/decide/reopen", reason="They called"))
    assert read(organiser, application)["status"] == "submitted"


def test_a_reminder_is_mailed_once(organiser: Client, desk: Visitor) -> None:
    stock = DeskStock(organiser)
    data(organiser.patch(f"{stock.path}/reminder", {"recipients": ["bar@stock.example"]}))
    first, second = press_twice(desk, f"{stock.desk_path}/reminder/send")
    assert lead_to_the_same(first, second)
    run_jobs()
    assert len(list_mails_to("bar@stock.example")) == 1
    assert desk.open(first.location).text.count("The reminder goes to bar@stock.example.") == 2


def test_a_number_of_the_stock_is_counted_once(organiser: Client, desk: Visitor) -> None:
    stock = DeskStock(organiser)
    item = stock.item(name="Lager", onHand=10)
    desk.open(stock.desk_path)
    form, typed = find_form(desk), fill(item, quantity="7")
    assert lead_to_the_same(*press_twice(desk, stock.desk_path, form=form, **typed))
    assert lead_to_the_same(*press_twice(desk, stock.desk_path, form=form, **typed))
    assert [
        movement["delta"]
        for movement in data(stock.owner.get(f"{stock.path}/items/{item['id']}/movements"))["movements"]
    ][:2] == [0, -3]


def test_an_item_is_added_changed_archived_and_restored_once(organiser: Client, desk: Visitor) -> None:
    stock = DeskStock(organiser)
    first, second = press_twice(desk, f"{stock.desk_path}/items/new", name="Lager", sku="BEE-1")
    assert lead_to_the_same(first, second)
    path = first.location
    assert lead_to_the_same(*press_twice(desk, f"{path}/change", name="Stout"))
    assert lead_to_the_same(*press_twice(desk, f"{path}/archive"))
    assert lead_to_the_same(*press_twice(desk, f"{path}/restore"))
    assert "Stout" in desk.open(stock.desk_path).text


def test_ticket_types_and_phases_are_added_changed_and_removed_once(organiser: Client, desk: Visitor) -> None:
    event = create_event(organiser)
    path = f"{EVENTS}/{event['id']}/ticket-types"
    assert lead_to_the_same(*press_twice(desk, f"{path}/new", name="Weekend", price="900", quantity="500"))
    types = data(organiser.get(f"/api/events/{event['id']}"))["ticketTypes"]
    assert [ticket_type["name"] for ticket_type in types] == ["Weekend"]
    path = f"{path}/{types[0]['id']}"
    assert lead_to_the_same(*press_twice(desk, path, name="Both days"))
    assert lead_to_the_same(*press_twice(desk, f"{path}/phases/new", name="Early bird", price="700", quantity="5"))
    assert lead_to_the_same(*press_twice(desk, f"{path}/phases/0/remove"))
    assert lead_to_the_same(*press_twice(desk, f"{path}/remove"))
    assert data(organiser.get(f"/api/events/{event['id']}"))["ticketTypes"] == []


def test_a_message_is_changed_and_scheduled_once(client: Client, organiser: Client, desk: Visitor) -> None:
    event = CampaignEvent(client, owner=organiser)
    draft = event.draft()
    path = f"{EVENTS}/{event.event['id']}/messages/{draft}"
    assert lead_to_the_same(*press_twice(desk, f"{path}/edit", **FILLED))
    assert lead_to_the_same(*press_twice(desk, f"{path}/schedule", scheduledAt=JUNE))
    campaign = event.now(draft)
    assert (campaign["title"], campaign["status"]) == (FILLED["title"], "scheduled")


def test_an_event_is_made_copied_changed_and_deleted_once(organiser: Client, desk: Visitor) -> None:
    first, second = press_twice(desk, NEW, **TYPED)
    assert lead_to_the_same(first, second)
    copied, _ = copies = press_twice(desk, f"{first.location}/copy")
    assert lead_to_the_same(*copies) and len(data(organiser.get("/api/events?mine=true"))["events"]) == 2
    assert lead_to_the_same(
        *press_twice(desk, f"{first.location}/edit", **TYPED | {"name": "River Days", "timezone": "Africa/Windhoek"})
    )
    assert lead_to_the_same(*press_twice(desk, f"{first.location}/lists/lineup", **{"lineup-0-name": "Elemotho"}))
    assert lead_to_the_same(*press_twice(desk, f"{copied.location}/delete"))
    assert "The event is deleted." in desk.open(EVENTS).text


def test_a_key_is_made_once_and_shown_once(organiser: Client, desk: Visitor) -> None:
    first, second = press_twice(desk, "/desk/keys", name="Ticket shop", scope="events", password=PASSWORD)
    assert 'id="key"' in first.text and second.status_code == 303
    page = desk.open(second.location).text
    assert "The key was made already, and is not shown again." in page and page.count("<strong>Ticket shop") == 1


def test_a_phone_is_added_once(organiser: Client, desk: Visitor) -> None:
    path = f"{EVENTS}/{create_event(organiser)['id']}/gate/phones"
    first, second = press_twice(desk, f"{path}/new", name="Gate A", kind="gate")
    assert 'id="code"' in first.text and second.status_code == 303
    page = desk.open(second.location).text
    assert "The phone was added already." in page and "add the phone again" in page
    assert (
        len(data(organiser.get(f"{path.replace('/desk', '/api').removesuffix('/gate/phones')}/devices"))["devices"])
        == 1
    )
