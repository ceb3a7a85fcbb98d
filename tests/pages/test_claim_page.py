"""The claim page and the allocator page, without scripts."""

import re
from typing import Any

import pytest
from flask import Flask

from tests.allocations.blocks import festival, organiser_of
from tests.allocations.documents import HOSTILE
from tests.counting import record_statements
from tests.factories.accounts import list_mails_to, run_jobs
from tests.factories.allocations import create_sunday_block
from tests.http import Client, data
from tests.pages.pages import Visitor

GUEST = {"name": "Frieda Amupolo", "email": "frieda@guest.example", "delivery": "e_ticket"}


def a_block(client: Client, quantity: int = 3, **fields: Any) -> tuple[Client, str, str]:
    """An organiser, and the address and id of a block made over HTTP."""
    owner, _ = organiser_of(client)
    made = festival(owner)
    body = {"ticketTypeId": made["ticketTypes"][0]["id"], "quantity": quantity, "name": "Main sponsor", **fields}
    block = data(owner.post(f"/api/events/{made['id']}/allocations", body), 201)
    return owner, f"/api/events/{made['id']}/allocations/{block['id']}", block["id"]


def page_of(url: str) -> str:
    return "/" + url.split("/", 3)[3]


def open_link(owner: Client, block: str, **body: Any) -> str:
    return page_of(data(owner.post(f"{block}/open-link", body))["url"])


def allocator_link(owner: Client, block: str) -> str:
    return page_of(data(owner.post(f"{block}/allocator-link"))["url"])


def invited(owner: Client, block: str, **person: Any) -> str:
    person = {"name": GUEST["name"], "email": GUEST["email"], **person}
    return page_of(data(owner.post(f"{block}/invite", person), 201)["invited"][0]["url"])


def test_invitation_becomes_a_ticket_on_the_page(client: Client, visitor: Visitor) -> None:
    owner, block, _ = a_block(client)
    page = visitor.open(invited(owner, block))
    assert page.headers["Cache-Control"] == "no-store" and page.headers["Referrer-Policy"] == "no-referrer"
    assert visitor.elements["name"]["value"] == "Frieda Amupolo"
    page = visitor.send(delivery="e_ticket")
    assert "<h1>Your ticket</h1>" in page.text and "<svg" in page.text and "frieda@guest.example" in page.text
    pdf = visitor.open(re.search(r'href="([^"]+ticket\.pdf)"', page.text)[1])  # type: ignore[index]
    assert pdf.content_type == "application/pdf" and pdf.data.startswith(b"%PDF-")
    (ticket,) = list_mails_to("frieda@guest.example")
    assert ticket["subject"] == "Windhoek Lights: your ticket" and "data:image/png;base64," in ticket["html"]


def test_the_holder_reads_when_an_event_of_several_days_ends(client: Client, visitor: Visitor) -> None:
    owner, block, _ = a_block(client, holder={"name": "Eva", "email": "eva@sponsor.example"})
    period = "Fri 4 June 2027, 18:00 to Sun 6 June 2027, 23:00 (Windhoek)"
    assert period in visitor.open(allocator_link(owner, block)).text
    run_jobs()
    assert period in list_mails_to("eva@sponsor.example")[-1]["text"]


def test_guests_and_the_holder_read_when_day_tickets_are_admitted(client: Client, visitor: Visitor) -> None:
    block = create_sunday_block(client, holder={"name": "Eva", "email": "eva@sponsor.example"})
    (guest,) = block.invite("frieda@guest.example")
    period = "Valid Sun 6 June 2027, 10:00 to 23:00 (Windhoek)"
    pages = (page_of(guest["url"]), f"/claim/{block.open_link()}", allocator_link(block.owner, block.path))
    run_jobs()
    texts = [visitor.open(path).text for path in pages]
    texts += [list_mails_to(address)[-1]["text"] for address in ("frieda@guest.example", "eva@sponsor.example")]
    for text in texts:
        assert period in text and "4 June" not in text
    offer = data(client.get(f"/api/allocations/claim/{pages[1].rpartition('/')[2]}"))
    assert offer["validFrom"] == "2027-06-06T08:00:00.000Z" and offer["validUntil"] == "2027-06-06T21:00:00.000Z"


def test_the_holder_reads_how_many_the_organiser_handed_out(client: Client, visitor: Visitor) -> None:
    owner, block, _ = a_block(client, quantity=5)
    path = allocator_link(owner, block)
    assert "handed out by <bdi>" not in visitor.open(path).text
    invited(owner, block, name="Sara Nangolo")
    assert "1 was handed out by <bdi>" in visitor.open(path).text
    data(owner.post(f"{block}/codes", {"count": 2}), 201)
    page = visitor.open(path)
    assert "3 were handed out by" in page.text and "2 of 5" in page.text and "Sara Nangolo" not in page.text
    visitor.send(name="Selma", email="selma@guest.example", delivery="e_ticket")
    page = visitor.open(path)
    assert "3 were handed out by" in page.text and "Selma" in page.text, "those of the holder do not count"
    shown = data(client.get(f"/api/allocations/allocator/{path.rpartition('/')[2]}"))
    assert (shown["handedOutByOrganiser"], shown["available"]) == (3, 1)
    (slot,) = [slot for slot in data(owner.get(block))["slots"] if slot["name"] == "Sara Nangolo"]
    data(owner.post(f"{block}/slots/{slot['id']}/revoke", {"returnTo": "block"}))
    assert "2 were handed out by" in visitor.open(path).text


def test_another_browser_does_not_see_the_ticket(app: Flask, client: Client, visitor: Visitor) -> None:
    owner, block, _ = a_block(client)
    path = invited(owner, block)
    visitor.open(path)
    visitor.send(**GUEST)
    other = Visitor(app.test_client())
    page = other.open(path)
    assert page.status_code == 410 and "Somebody has claimed this ticket" in page.text and "<svg" not in page.text
    assert "Your ticket" in visitor._went("GET", path, follow_redirects=True).text


def test_will_call_page_shows_the_name_for_the_gate(client: Client, visitor: Visitor) -> None:
    owner, block, _ = a_block(client)
    visitor.open(invited(owner, block))
    page = visitor.send(**{**GUEST, "delivery": "will_call"})
    assert "<h1>You are on the list</h1>" in page.text and "<svg" not in page.text
    assert list_mails_to("frieda@guest.example")[0]["subject"] == "Windhoek Lights: you are on the list"


def test_errors_are_shown_at_their_field_and_input_is_kept(client: Client, visitor: Visitor) -> None:
    owner, block, _ = a_block(client)
    visitor.open(open_link(owner, block))
    page = visitor.send(name="", email="nobody", phone="12", delivery="e_ticket")
    assert page.status_code == 422 and page.text.count("There are problems") == 1
    assert page.text.count("Enter the name of the guest.") == 2
    assert visitor.elements["email"]["value"] == "nobody" and visitor.elements["email"]["aria-invalid"] == "true"


def test_party_gets_a_code_for_each_place(client: Client, visitor: Visitor) -> None:
    owner, block, _ = a_block(client, 5)
    visitor.open(open_link(owner, block, maxPerClaim=3))
    page = visitor.send(**GUEST, quantity="3")
    assert page.text.count("<svg") == 3 and "<h1>Your tickets</h1>" in page.text
    (mail,) = list_mails_to("frieda@guest.example")
    assert mail["subject"] == "Windhoek Lights: your tickets" and mail["html"].count("<img") == 3


def test_second_place_of_one_address_is_refused_at_its_field(app: Flask, client: Client, visitor: Visitor) -> None:
    owner, block, _ = a_block(client)
    path = open_link(owner, block)
    visitor.open(path)
    visitor.send(**GUEST)
    other = Visitor(app.test_client())
    other.open(path)
    page = other.send(**GUEST)
    assert page.status_code == 409 and other.elements["email"]["aria-invalid"] == "true"


def test_expired_links_explain_themselves(app: Flask, client: Client, visitor: Visitor) -> None:
    owner, block, _ = a_block(client, 1)
    path = open_link(owner, block)
    visitor.open(path)
    visitor.send(**GUEST)
    other = Visitor(app.test_client())
    page = other.open(path)
    assert page.status_code == 409 and "All tickets are taken" in page.text and "mailto:organiser" in page.text
    data(owner.post(f"{block}/open-link", {"revoke": True}))
    page = other.open(path)
    assert page.status_code == 410 and "This link has ended" in page.text
    assert other.open("/claim/nonsense").status_code == 404
    assert other.open(f"/allocator/{'A' * 44}").status_code == 404


@pytest.mark.parametrize("name", HOSTILE)
def test_name_is_shown_as_text(client: Client, visitor: Visitor, name: str) -> None:
    owner, block, _ = a_block(client, holder={"organisation": name[:200].strip()})
    visitor.open(open_link(owner, block))
    name = name.replace("file:///etc/passwd", "x")  # no address is taken in the name of a guest
    page = visitor.send(**{**GUEST, "name": name[:200]})
    assert "<h1>Your ticket</h1>" in page.text
    assert "<img" not in page.text and "<b>" not in page.text and "49" not in re.findall(r"<bdi>(.*?)</bdi>", page.text)
    (mail,) = list_mails_to("frieda@guest.example")
    assert mail["html"].count("<img") == 1 and "file:///etc" not in re.sub(r"&lt;.*?&gt;", "", mail["html"])


def test_form_without_csrf_token_is_refused(client: Client, visitor: Visitor) -> None:
    owner, block, _ = a_block(client)
    for path in (invited(owner, block), allocator_link(owner, block)):
        answer = visitor.flask.post(path, data=GUEST)
        assert answer.status_code == 400


def test_holder_sends_renames_and_takes_back_a_ticket(client: Client, visitor: Visitor) -> None:
    owner, block, _ = a_block(client, 2)
    path = allocator_link(owner, block)
    page = visitor.open(path)
    assert "2 of 2" in page.text and "You will see your guests here" in page.text
    page = visitor.send(**GUEST)
    assert "1 of 2" in page.text and "Frieda Amupolo has a ticket" in page.text
    slot = re.search(rf'href="({path}/[0-9a-f]{{24}})"', page.text)[1]  # type: ignore[index]
    visitor.open(slot)
    page = visitor.send(name="Tuli", email="tuli@guest.example")
    assert "The ticket now belongs to Tuli" in page.text
    assert [item["subject"] for item in list_mails_to("tuli@guest.example")] == ["Windhoek Lights: your ticket"]
    page = visitor.open(slot)
    assert re.search(r"<details>.*Take the ticket back</summary>.*take-back.*</details>", page.text, re.DOTALL), (
        "it asks"
    )
    page = visitor.send(form=1)
    assert "2 of 2" in page.text and "You took back the ticket of Tuli" in page.text
    assert visitor.open(slot).status_code == 404


def test_holder_may_give_an_address_another_place(client: Client, visitor: Visitor) -> None:
    owner, block, _ = a_block(client, 3)
    visitor.open(allocator_link(owner, block))
    visitor.send(**GUEST)
    page = visitor.send(**GUEST)
    assert page.status_code == 409 and "To give it another one, tick the box below." in page.text
    assert "Give this address another ticket" in page.text and "send allowDuplicates" not in page.text
    page = visitor.send(**GUEST, allowDuplicates="true")
    assert "1 of 3" in page.text


def test_page_shows_when_all_places_are_handed_out(client: Client, visitor: Visitor) -> None:
    owner, block, _ = a_block(client, 1)
    visitor.open(allocator_link(owner, block))
    page = visitor.send(**GUEST)
    assert "You have handed out all your tickets" in page.text and visitor.forms == []


def test_page_does_not_offer_to_take_back_what_the_holder_never_had(client: Client, visitor: Visitor) -> None:
    owner, block, _ = a_block(client, 1)
    path = allocator_link(owner, block)
    invited(owner, block)
    page = visitor.open(path)
    assert "There are no tickets left to hand out" in page.text
    assert "take it back" not in page.text and "You will see your guests here" not in page.text


def test_page_runs_few_statements(client: Client, visitor: Visitor) -> None:
    owner, block, _ = a_block(client, 5)
    claiming, handing = open_link(owner, block), allocator_link(owner, block)
    visitor.open(claiming)
    visitor.send(**GUEST)
    ticket = visitor.open(claiming).headers["Location"]
    for path in (handing, ticket, f"{ticket}/ticket.pdf", f"{ticket}/event.ics"):
        with record_statements() as seen:
            assert visitor.open(path).status_code == 200
        assert len(seen) <= 3, (path, seen)
    with record_statements() as seen:
        visitor.open(handing)
        visitor.send(name="Tuli", email="tuli@guest.example", delivery="e_ticket")
    assert len(seen) <= 12, seen
