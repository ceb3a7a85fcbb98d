"""Places given out at the desk: invitations, reminders, codes, links, printed tickets, and guests admitted by name."""

from functools import partial
from typing import Any

import pytest

from app.accounts.models import Account
from tests.allocations.law import assert_books_agree
from tests.factories.accounts import list_mails_to, run_jobs
from tests.factories.allocations import Block, claim_slot
from tests.factories.events import update_event
from tests.factories.payouts import execute_sql
from tests.http import Client, data, list_problems
from tests.pages.desk.test_guests import block as block
from tests.pages.desk.test_guests import build_list_path, build_path
from tests.pages.pages import Visitor
from tests.races import run_concurrently

GUESTS = "Anna Shilongo, anna@example.com\n\nBen; ben@example.com\r\nAnna again\tanna@example.com"


def count_mails(address: str) -> int:
    return len(list_mails_to(address))


def find_link(page: Any) -> str:
    url: str = page.text.split('id="link" type="url" value="')[1].split('"')[0]
    return url


def test_guests_are_checked_before_a_mail_goes_to_them(block: Block, desk: Visitor) -> None:
    desk.open(build_path(block, "invite"))
    page = desk.send(form=1, recipients=GUESTS)
    assert "2 guests get a mail" in page.text and "is in your list twice" in page.text
    assert block.now()["invited"] == 0 and count_mails("anna@example.com") == 0
    first = desk.press(form=1, send="true")
    second = desk.press(form=1, send="true")
    assert first.status_code == second.status_code == 303
    assert block.now()["invited"] == 2 and count_mails("anna@example.com") == 1
    assert "Invited: 2. Left out: 1." in desk.open(build_path(block)).text
    desk.open(build_path(block, "invite"))
    page = desk.send(form=1, recipients="Anna, anna@example.com")
    assert "guests get a mail" not in page.text and "has a place of this block" in page.text
    assert "Send " not in page.text.split("<main")[1]
    page = desk.send(form=1, change="true")
    assert "Anna, anna@example.com</textarea>" in page.text
    page = desk.send(form=1, recipients="Anna <anna@example.com>", allowDuplicates="true")
    assert "1 guest gets a mail" in page.text
    assert_books_agree()


def test_guests_can_have_their_tickets_at_once(block: Block, desk: Visitor) -> None:
    desk.open(build_path(block, "invite"))
    assert '<option value="invitation"' in desk.page.text and "They get</label>" in desk.page.text
    assert desk.send(form=1, recipients=GUESTS, sends="letter").status_code == 422
    page = desk.send(form=1, recipients=f"{GUESTS}\nRas Sheehama +2", sends="ticket")
    assert "2 guests get a ticket by e-mail at once" in page.text and "get a mail" not in page.text
    assert "Send 2 tickets, and put the others on the list" in page.text and "is in your list twice" in page.text
    assert block.now()["claimed"] == 0 and count_mails("anna@example.com") == 0
    page = desk.send(form=1, change="true")
    assert '<option value="ticket" selected>' in page.text
    desk.send(form=1, recipients=f"{GUESTS}\nRas Sheehama +2", sends="ticket")
    assert desk.press(form=1, send="true").status_code == desk.press(form=1, send="true").status_code == 303
    now = block.now()
    assert (now["claimed"], now["invited"], count_mails("anna@example.com")) == (5, 0, 1)
    page = desk.open(build_path(block))
    assert "They get a ticket by e-mail: 2. On the list at the gate: 1. Left out: 1." in page.text
    assert_books_agree()


def test_wrong_lines_of_guests_are_said_and_kept(block: Block, desk: Visitor) -> None:
    desk.open(build_path(block, "invite"))
    for text, expected in (
        ("", "Enter at least one guest."),
        (
            "a@example.com\nBen, ben@example.com\nwww.example.com, c@example.com",
            "Line 1: the name is missing.<br>Line 3: a web address is not allowed in a name.<",
        ),
        ("Anna\nBen, ben.example.com", "Line 2: a web address is not allowed in a name."),
        (
            "Name, E-mail\nAnna, anna@example,com",
            "Line 2: “anna@example” is not an e-mail address.<",
        ),
        ("Anna, anna@example.com\nBen, ben", "Line 2: “ben” is not an e-mail address. Write a name, or a name and an"),
        ("Anna +2, anna@example.com", "Line 1: a party has no e-mail address."),
        ("Anna, anna@example.com, +2", "Line 1: a party has no e-mail address."),
        ("Ben +1000", "Line 1: a party has at most 100 people."),
        ("Anna +100", "Line 1: a party has at most 100 people."),
        ("Anna\nBen +9", "Only 10 places of this block are free."),
        (";;;", "Line 1: the name is missing."),
        ("Anna, anna@example.com, ben@example.com", "Line 1: there is more than one e-mail address."),
        ("\n".join(f"G, g{number}@example.com" for number in range(501)), "at most 500 guests"),
        ("\n".join(f"G, g{number}@example.com" for number in range(11)), "Only 10 places of this block are free."),
        ("A\0, a@example.com", "There are characters that we cannot use"),
    ):
        page = desk.send(form=1, recipients=text)
        assert page.status_code in (409, 422) and expected in page.text, text[:40]
    page = desk.send(form=1, recipients="<b>www.example.com")
    assert "&lt;b&gt;www.example.com</textarea>" in page.text and block.now()["invited"] == 0


def test_guests_without_an_address_are_on_the_list_at_the_gate(block: Block, desk: Visitor) -> None:
    names = "Ras Sheehama +2\nElemotho Samuel\nras sheehama\nAnna, anna@example.com\n"
    desk.open(build_path(block, "invite"))
    page = desk.send(form=1, recipients=names)
    assert "a party of 3" in page.text and "ras sheehama</bdi>: is in your list twice" in page.text
    assert block.now()["claimed"] == 0
    desk.press(form=1, send="true")
    page = desk.open(build_path(block))
    assert "Invited: 1. On the list at the gate: 2. Left out: 1." in page.text
    assert (
        page.text.count('class="first">Ras Sheehama · party of 3<') == 3
        and page.text.count(' class="first">Anna<') == 1
    )
    now = block.now()
    assert (now["claimed"], now["invited"], now["available"]) == (4, 1, 5)
    found = data(block.owner.get(f"{block.events}/will-call?q=ras sheeh"))["slots"]
    assert [(slot["name"], slot["partySize"], slot["delivery"]) for slot in found] == [
        ("Ras Sheehama", 3, "will_call")
    ] * 3
    assert data(block.admit(found[1]["slotId"], nonce="n1", count=3))["partySize"] == 3
    desk.open(build_path(block, "invite"))
    page = desk.send(form=1, recipients="ben@example.com; Ben Amutenya")
    assert "<li><bdi>Ben Amutenya</bdi>, ben@example.com</li>" in page.text
    desk.open(build_path(block, "invite"))
    page = desk.send(form=1, recipients="RAS SHEEHAMA\nMinor")
    assert "has a place of this block" in page.text and "Put them on the list" in page.text
    desk.press(form=1, send="true")
    desk.press(form=1, send="true")
    assert block.now()["claimed"] == 2
    assert_books_agree()


@pytest.mark.parametrize("name", ["ΙΩΑΝΝΗΣ", "İbrahim"])
def test_the_same_name_is_a_duplicate_in_any_script(block: Block, name: str) -> None:
    guest = {"name": name, "delivery": "will_call"}
    data(block.post("invite", recipients=[guest]), 201)
    assert data(block.post("invite", recipients=[guest]), 201)["listed"] == []


def test_the_list_at_the_gate_by_the_api(block: Block) -> None:
    """A guest without an address needs the delivery, a party too; two at once never share a place."""
    wrong = block.post(
        "invite", recipients=[{"name": "Anna"}, {"name": "Ben", "email": "b@example.com", "quantity": 2}]
    )
    assert list_problems(wrong) == {"recipients[0].email": "required", "recipients[1].quantity": "too_large"}
    crew = [{"name": f"Crew {number}", "delivery": "will_call", "quantity": 2} for number in range(3)]
    dry = data(block.post("invite", recipients=crew, dryRun=True))
    assert len(dry["listed"]) == 3 and dry["available"] == 4 and block.now()["claimed"] == 0
    responses = run_concurrently(8, partial(_invite_crew, block))
    assert sorted(response.status_code for response in responses) == [201] * 3 + [409] * 5
    now = block.now()
    assert (now["claimed"], now["available"]) == (9, 1) and len({slot["code"] for slot in now["slots"]}) == 10
    assert_books_agree()


def _invite_crew(block: Block, number: int) -> Any:
    return block.post("invite", recipients=[{"name": f"Crew {number}", "delivery": "will_call", "quantity": 3}])


def test_guests_are_reminded_once_a_day(block: Block, desk: Visitor) -> None:
    assert "There is nobody to remind." in desk.open(build_path(block, "remind")).text
    block.invite("anna@example.com", "ben@example.com")
    block.codes(1)
    page = desk.open(build_path(block, "remind"))
    assert "anna@example.com" in page.text and "ben@example.com" in page.text and count_mails("anna@example.com") == 1
    assert "Reminded: 2. Not reminded: 1 code has no address." in desk.send(form=1).text
    assert count_mails("anna@example.com") == 2
    desk.open(build_path(block, "remind"))
    assert "Reminded: 0. Not reminded: 2 were reminded in the last day" in desk.send(form=1).text
    assert count_mails("anna@example.com") == 2


def test_codes_are_made_listed_and_recorded(block: Block, desk: Visitor) -> None:
    assert "Codes appear here" in desk.open(build_path(block, "codes")).text
    desk.open(build_path(block, "codes/new"))
    assert "Only 10 places of this block are free." in desk.send(form=1, count="11").text
    assert "Made: 2 codes." in desk.send(form=1, count="2").text
    codes = [slot["code"] for slot in block.now()["slots"] if slot["code"]]
    assert len(codes) == 2 and all(f"/claim/{code}" in desk.page.text for code in codes)
    file = desk.open(f"{build_path(block, 'codes')}?format=csv").text
    assert all(f'"{code}"' in file for code in codes) and file.startswith("\ufeff")
    desk.open(build_path(block, "codes/new"))
    assert "Made: 8 codes." in desk.send(form=1).text
    desk.open(build_path(block, "codes/new"))
    assert "no code was made" in desk.send(form=1).text
    trail = data(block.owner.get("/api/organisations/me/audit?action=exports.codes"))["entries"]
    assert len(trail) == 5, "each time that codes are shown"


def test_the_holders_link_is_shown_and_mailed_once(client: Client, block: Block, desk: Visitor) -> None:
    page = desk.open(build_path(block, "holder-link"))
    assert "Mail it to tuli@bank.example" in page.text and count_mails("tuli@bank.example") == 0
    desk.press(form=1)
    page = desk.send(form=1)
    url = find_link(page)
    assert "Mailed to tuli@bank.example." in page.text and count_mails("tuli@bank.example") == 1
    assert url == data(block.post("allocator-link"))["url"]
    page = desk.open(build_path(block, "holder-link"))
    assert "checked" not in page.text
    page = desk.send(form=1, rotate="true")
    assert "No mail was sent." in page.text and find_link(page) != url and count_mails("tuli@bank.example") == 1
    assert client.get(f"/api/allocations/allocator/{url.rpartition('/')[2]}").status_code == 410
    page = desk.open(build_path(block, "links/holder/end"))
    assert "End the holder’s link?" in page.text
    assert "The link has ended." in desk.send(form=1).text and block.now()["allocatorLink"]["status"] == "revoked"
    assert desk.open(build_path(block, "links/other/end")).status_code == 404


def test_a_holder_without_an_address_gets_no_mail(block: Block, desk: Visitor) -> None:
    block.change(holder=None)
    page = desk.open(build_path(block, "holder-link"))
    assert "The holder has no e-mail address" in page.text and "Mail it to" not in page.text
    assert "No mail was sent." in desk.send(form=1, mail="true").text


def test_the_open_link_has_limits(client: Client, block: Block, desk: Visitor) -> None:
    desk.open(build_path(block, "open-link"))
    assert desk.send(form=1, maxClaims="x").status_code == 422
    assert "Choose a time in the future." in desk.send(form=1, maxClaims="3", expiresAt="2020-01-01T10:00").text
    page = desk.send(form=1, maxClaims="3", maxPerClaim="2", expiresAt="2027-06-01T12:00")
    assert "3 places are left for it." in page.text
    link = block.now()["openLink"]
    assert (link["maxClaims"], link["maxPerClaim"], link["url"]) == (3, 2, find_link(page))
    data(claim_slot(client, link["url"].rpartition("/")[2], quantity=2))
    desk.open(build_path(block, "open-link"))
    assert desk.forms[1].fields["maxClaims"] == "3"
    page = desk.send(form=1, maxClaims="1")
    assert page.status_code == 422 and 'href="#maxClaims"' in page.text
    desk.open(build_path(block, "links/open/end"))
    assert "The link has ended." in desk.send(form=1).text and block.now()["openLink"]["status"] == "revoked"


def test_nothing_is_given_out_after_the_end(block: Block, desk: Visitor) -> None:
    update_event(block.owner, block.event, visibility="cancelled")
    assert "Invite guests" not in desk.open(build_path(block)).text
    for end, fields in (
        ("invite", {"recipients": "Anna, anna@example.com"}),
        ("codes/new", {}),
        ("holder-link", {}),
        ("open-link", {}),
        ("packs/new", {"count": "1"}),
    ):
        desk.open(build_path(block, end))
        page = desk.send(form=1, **fields)
        assert page.status_code == 409 and "can no longer hand out" in page.text, end


def test_without_a_verified_address_nothing_is_mailed(owner: Account, block: Block, desk: Visitor) -> None:
    execute_sql("UPDATE account SET email_verified_at = NULL WHERE id = :id", id=owner.id)
    for end in ("invite", "remind", "codes/new", "holder-link", "open-link", "invoice/mail"):
        page = desk.open(build_path(block, end))
        assert page.status_code == 403 and "Confirm your e-mail address first" in page.text, end
    assert desk.open(build_path(block)).status_code == 200


def test_tickets_are_printed_once(block: Block, desk: Visitor) -> None:
    assert "Printed tickets appear here" in desk.open(build_path(block, "packs")).text
    desk.open(build_path(block, "packs/new"))
    page = desk.send(form=1, count="11")
    assert page.status_code == 409 and "Only 10 places of this block are free." in page.text
    assert desk.press(form=1, count="3").status_code == desk.press(form=1, count="3").status_code == 303
    assert block.now()["claimed"] == 3
    page = desk.open(build_path(block, "packs"))
    assert "Making the tickets" in page.text and "data-refresh-seconds" in page.text
    (pack,) = data(block.owner.get(f"{block.path}/packs"))["packs"]
    path = build_path(block, f"packs/{pack['id']}/tickets.pdf")
    assert desk.open(path).status_code == 409
    run_jobs()
    page = desk.open(build_path(block, "packs"))
    assert path in page.text and "data-refresh-seconds" not in page.text
    assert desk.open(path).data.startswith(b"%PDF")
    assert_books_agree()


def test_a_guest_is_found_by_name_and_admitted_once(block: Block, desk: Visitor) -> None:
    path = f"{build_list_path(block)}/will-call"
    assert "Guests appear here" in desk.open(path).text
    (slot_id,) = block.claimed(1, name="Frieda")
    assert "Frieda" in desk.open(f"{path}?q=frie").text and "code ends in" in desk.page.text
    assert "No guest of a block with a ticket matches." in desk.open(f"{path}?q=nobody").text
    assert desk.open(f"{path}?q=%00").status_code == 422
    page = desk.open(f"{path}/{slot_id}")
    assert "Admit Frieda" in page.text and "count" not in desk.forms[1].fields
    first = desk.press(form=1, gate="Desk")
    second = desk.press(form=1, gate="Desk")
    assert first.status_code == second.status_code == 303, "the same form again is no second admission"
    assert block.now()["admitted"] == 1
    assert "is admitted." in desk.open(path).text and "Desk" in desk.page.text
    desk.open(f"{path}/{slot_id}")
    assert desk.send(form=1).status_code == 409
    assert desk.press(form=1, nonce="a\0b").status_code == 404


def test_some_of_a_party_come_in(client: Client, block: Block, desk: Visitor) -> None:
    token = block.open_link(maxPerClaim=3)
    slot_id = data(claim_slot(client, token, quantity=3, name="Frieda"))["slotId"]
    path = f"{build_list_path(block)}/will-call/{slot_id}"
    assert "a party of 3" in desk.open(path).text
    page = desk.send(form=1, count="4")
    assert page.status_code == 409 and "Only 3 people of this party are still outside." in page.text
    assert "Empty: one." in page.text
    page = desk.send(form=1, count="2")
    assert "Frieda is admitted. Of this party still outside: 1." in page.text and block.now()["admitted"] == 2
    assert page.text.count("party of 3") == 3
    last = next(
        slot["slotId"] for slot in data(block.owner.get(f"{block.events}/will-call"))["slots"] if not slot["admittedAt"]
    )
    desk.open(f"{build_list_path(block)}/will-call/{last}")
    page = desk.send(form=1, count="")
    assert "Frieda is admitted." in page.text and "still outside" not in page.text and block.now()["admitted"] == 3
