"""The page on which a holder hands out several tickets at once, and the pages of guests without an address."""

import re
from typing import Any

import pytest
from flask import Flask

from tests.allocations.law import assert_books_agree
from tests.counting import record_statements
from tests.factories.accounts import list_mails_to
from tests.factories.allocations import Block, create_block
from tests.http import Client, data
from tests.pages.pages import Visitor
from tests.races import run_concurrently

GUESTS = "Anna Shilongo, anna@example.com\n\nBen; ben@example.com\r\nRas Sheehama +2\nElemotho\n"


@pytest.fixture
def block(client: Client) -> Block:
    return create_block(client, holder={"organisation": "Bank Windhoek"})


@pytest.fixture
def path(block: Block) -> str:
    return f"/allocator/{block.allocator()}"


def send_list(visitor: Visitor, path: str, guests: str, **typed: str) -> Any:
    """Send the form; return the page with the check of the list, or with errors."""
    visitor.open(f"{path}/several")
    return visitor.send(recipients=guests, **typed)


def find_slot_path(page: Any, path: str, name: str) -> str:
    match = re.search(rf'href="({path}/[0-9a-f]{{24}})"><bdi>{name}<', page.text)
    assert match, name
    return match[1]


def list_names(block: Block) -> list[str]:
    """Return the names of the will-call list of the gate."""
    return [slot["name"] for slot in data(block.owner.get(f"{block.events}/will-call"))["slots"]]


def test_a_list_is_checked_and_then_handed_out(block: Block, path: str, visitor: Visitor) -> None:
    page = visitor.open(path)
    assert f'href="{path}/several"' in page.text
    page = send_list(visitor, path, GUESTS)
    assert "<h1>Is the list right?</h1>" in page.text and "Ras Sheehama</bdi>, a party of 3" in page.text
    assert "Hand out 6 tickets" in page.text and "You have 4 tickets left then." in page.text
    assert block.now()["claimed"] == 0 and list_mails_to("anna@example.com") == []
    page = visitor.send(send="true")
    assert "2 guests get a ticket by e-mail. 4 people are on the list at the gate." in page.text
    assert "4 of 10" in page.text and page.text.count("party of 3") == 3
    for address in ("anna@example.com", "ben@example.com"):
        assert [mail["subject"] for mail in list_mails_to(address)] == [f"{block.event['name']}: your ticket"]
    assert sorted(list_names(block)) == ["Anna Shilongo", "Ben", "Elemotho", *["Ras Sheehama"] * 3]
    assert {slot["via"] for slot in block.now(status="claimed")["slots"]} == {"allocator"}
    assert_books_agree()


def test_who_has_a_ticket_gets_no_other_one_unless_the_holder_says_so(
    block: Block, path: str, visitor: Visitor
) -> None:
    send_list(visitor, path, GUESTS)
    visitor.send(send="true")
    page = send_list(visitor, path, "Anna, anna@example.com\nras sheehama\nCarla\ncarla")
    assert "Anna</bdi>, anna@example.com: has a ticket from you" in page.text
    assert (
        "ras sheehama</bdi>: has a ticket from you" in page.text and "carla</bdi>: is in your list twice" in page.text
    )
    page = visitor.send(send="true")
    assert "1 person is on the list at the gate. 3 guests of your list have a ticket already." in page.text
    page = send_list(visitor, path, "Anna, anna@example.com")
    assert "Hand out" not in page.text.split("<form")[1] and "Change the list" in page.text
    page = visitor.send(send="true")
    assert "1 guest of your list has a ticket already." in page.text and len(list_mails_to("anna@example.com")) == 1
    page = send_list(visitor, path, "Anna, anna@example.com", allowDuplicates="true")
    assert "No ticket for them" not in page.text
    assert "1 guest gets a ticket by e-mail." in visitor.send(send="true").text
    assert len(list_mails_to("anna@example.com")) == 2 and block.now()["available"] == 2
    assert_books_agree()


def test_a_list_that_is_sent_twice_is_handed_out_once(block: Block, path: str, visitor: Visitor) -> None:
    send_list(visitor, path, "Anna, anna@example.com\nBen", allowDuplicates="true")
    first, second = visitor.press(send="true"), visitor.press(send="true")
    assert first.status_code == second.status_code == 303
    other = visitor.press(send="true", recipients="Carla")
    assert other.status_code == 409 and "You have sent this form already" in other.text
    assert "1 guest gets a ticket by e-mail. 1 person is" in visitor.open(first.location).text
    assert block.now()["claimed"] == 2 and len(list_mails_to("anna@example.com")) == 1


def test_a_list_from_two_windows_is_handed_out_once(app: Flask, block: Block, path: str) -> None:
    windows = [Visitor(app.test_client()) for _ in range(2)]
    for window in windows:
        send_list(window, path, "Anna, anna@example.com\nBen")
        window.send(send="true")
    assert "2 guests of your list have a ticket already." in windows[1].page.text
    assert block.now()["claimed"] == 2 and len(list_mails_to("anna@example.com")) == 1


def test_the_check_leads_back_to_the_list(path: str, visitor: Visitor) -> None:
    send_list(visitor, path, "Anna <anna@example.com>", allowDuplicates="true")
    page = visitor.send(change="true")
    assert page.status_code == 200 and "Anna &lt;anna@example.com&gt;</textarea>" in page.text
    assert "checked" in page.text


@pytest.mark.parametrize(
    ("guests", "expected"),
    [
        ("", ["Enter at least one guest."]),
        (
            "Ben\nAnna, anna@example\nwww.example.com\na@example.com b, c@example.com, d@example.com\nCrew +100\n;;;",
            [
                "Line 2: “anna@example” is not an e-mail address.<br>",
                "Line 3: a web address is not allowed in a name.<br>",
                "Line 4: there is more than one e-mail address. Write each guest on a line of their own.<br>",
                "Line 5: a party has at most 100 people.<br>",
                "Line 6: the name is missing.<",
            ],
        ),
        (
            "Crew +2, crew@example.com\nName, E-mail",
            ["Line 1: a party has no e-mail address."],
        ),
        (f"{'A' * 201}, a@example.com", ["Line 1: the name has more than 200 characters."]),
        (
            "Name, E-mail\nAnna, anna@example.com\nWrong Nmae, notanemail",
            ["Line 3: “notanemail” is not an e-mail address. Write a name, or a name and an address.<"],
        ),
        (f"Anna, {'a' * 70}@b", [f"Line 1: “{'a' * 60}…” is not an e-mail address."]),
        ("Anna, data@token", ["“data@token” is not an e-mail address."]),
        ("Anna, \"&'@y", ["Line 1: “&amp;&#39;@y” is not an e-mail address."]),
        ("\n".join("www.example.com" for _ in range(12)), ["Line 10: a web", "And 2 other lines."]),
        ("\n".join("www.example.com" for _ in range(11)), ["And 1 other line."]),
        ("\n".join(f"Guest {number}" for number in range(101)), ["Enter at most 100 guests at once."]),
        ("Anna\0", ["There are characters that we cannot use"]),
    ],
)
def test_wrong_lines_are_said_and_kept(
    block: Block, path: str, visitor: Visitor, guests: str, expected: list[str]
) -> None:
    page = send_list(visitor, path, guests)
    assert page.status_code == 422 and "Line 11:" not in page.text
    for text in expected:
        assert text in page.text, text
    if guests and "\0" not in guests and "&" not in guests:
        assert f">{guests.strip()}</textarea>" in page.text.replace("\r\n", "\n")
    assert block.now()["claimed"] == 0


def test_a_block_with_too_few_places_hands_out_nothing(block: Block, path: str, visitor: Visitor) -> None:
    page = send_list(visitor, path, "Anna, anna@example.com\nCrew +9")
    assert page.status_code == 409 and "Only 10 tickets are left, and your list needs 11." in page.text
    assert "Crew +9</textarea>" in page.text and visitor.elements["recipients"]["aria-invalid"] == "true"
    send_list(visitor, path, "Anna, anna@example.com\nCrew +8")
    block.codes(9)
    page = visitor.send(send="true")
    assert page.status_code == 409 and "Only 1 ticket is left, and your list needs 10." in page.text
    assert "Crew +8</textarea>" in page.text
    assert block.now()["claimed"] == 0 and list_mails_to("anna@example.com") == []
    block.codes(1)
    page = visitor.open(f"{path}/several")
    assert page.status_code == 303 and page.location.endswith(path)
    assert "several" not in visitor.open(path).text
    assert_books_agree()


def test_an_ended_link_hands_out_nothing(block: Block, path: str, visitor: Visitor) -> None:
    send_list(visitor, path, "Anna, anna@example.com")
    data(block.post("allocator-link", revoke=True))
    page = visitor.send(send="true")
    assert page.status_code == 410 and "newer link has replaced it" in page.text
    page = visitor.open(f"{path}/several")
    assert page.status_code == 410 and "newer link has replaced it" in page.text
    assert block.now()["claimed"] == 0 and list_mails_to("anna@example.com") == []
    assert visitor.open(f"/allocator/{'A' * 44}/several").status_code == 404


def test_the_form_needs_its_token(block: Block, path: str, visitor: Visitor) -> None:
    answer = visitor.flask.post(f"{path}/several", data={"recipients": "Anna", "send": "true"})
    assert answer.status_code == 400 and block.now()["claimed"] == 0


def test_a_guest_without_an_address_is_renamed_and_taken_back(block: Block, path: str, visitor: Visitor) -> None:
    send_list(visitor, path, "Ras Sheehama +1\nElemotho")
    page = visitor.send(send="true")
    slot = find_slot_path(page, path, "Elemotho")
    page = visitor.open(slot)
    assert "We e-mail" not in page.text and "by e-mail" not in page.text and "(optional)" in page.text
    page = visitor.send(name="", email="")
    assert page.status_code == 422 and "Enter the name of the guest." in page.text and "(optional)" in page.text
    page = visitor.send(name="Lize Ehlers", email="")
    assert "The ticket now belongs to Lize Ehlers." in page.text
    assert sorted(list_names(block)) == ["Lize Ehlers", "Ras Sheehama", "Ras Sheehama"]
    visitor.open(slot)
    page = visitor.send(name="Lize Ehlers", email="lize@example.com")
    assert "The ticket now belongs to Lize Ehlers." in page.text
    assert [mail["subject"] for mail in list_mails_to("lize@example.com")] == [
        f"{block.event['name']}: you are on the list"
    ]
    visitor.open(slot)
    page = visitor.send(name="Ben", email="")
    assert page.status_code == 422 and "Enter an e-mail address like" in page.text, "who has an address keeps none"
    visitor.open(find_slot_path(visitor.open(path), path, "Ras Sheehama"))
    page = visitor.send(form=1)
    assert "You took back the ticket of Ras Sheehama." in page.text and "8 of 10" in page.text
    assert sorted(list_names(block)) == ["Lize Ehlers", "Ras Sheehama"]
    assert_books_agree()


def test_the_pages_run_few_statements(block: Block, path: str, visitor: Visitor) -> None:
    guests = "\n".join(f"Guest {number}, guest{number}@example.com" for number in range(8))
    with record_statements() as seen:
        visitor.open(f"{path}/several")
    assert len(seen) <= 2, seen
    with record_statements() as seen:
        visitor.send(recipients=f"{guests}\nElemotho")
    assert len(seen) <= 4, seen
    with record_statements() as seen:
        assert visitor.press(send="true").status_code == 303
    assert len(seen) <= 7, seen


def test_two_windows_at_once_hand_out_a_list_once(app: Flask, block: Block, path: str) -> None:
    windows = [Visitor(app.test_client()) for _ in range(4)]
    for window in windows:
        send_list(window, path, "Anna, anna@example.com\nBen")
    answers = run_concurrently(4, lambda number: windows[number].press(send="true").status_code)
    assert answers == [303] * 4 and block.now()["claimed"] == 2
    assert len(list_mails_to("anna@example.com")) == 1
    assert_books_agree()


def test_one_guest_without_an_address_goes_on_the_list(block: Block, path: str, visitor: Visitor) -> None:
    visitor.open(path)
    page = visitor.send(name="Ras Sheehama", email="", delivery="e_ticket")
    assert page.status_code == 422 and "Enter an e-mail address like" in page.text and block.now()["claimed"] == 0
    page = visitor.send(name="Ras Sheehama", email="", delivery="will_call")
    assert "Ras Sheehama is on the list at the gate." in page.text and list_names(block) == ["Ras Sheehama"]
    page = visitor.send(name="ras  sheehama", email="", delivery="will_call")
    assert page.status_code == 422 and "is on the list already" in page.text and block.now()["claimed"] == 1


def test_taking_places_back_does_not_mail_strangers_without_end(
    client: Client, block: Block, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.allocations.actions.block_links.LEAST_GUESTS_A_DAY", 0)
    url = f"/api/allocations/allocator/{block.allocator()}"
    statuses = []
    for turn in range(3):
        guests = [{"name": "Guest", "email": f"guest{turn}-{number}@example.com"} for number in range(10)]
        response = client.post(f"{url}/guests", {"recipients": guests})
        statuses.append(response.status_code)
        for guest in data(response)["mailed"] if response.status_code == 200 else ():
            data(client.post(url, {"action": "take_back", "slotId": guest["slotId"]}))
    assert statuses == [200, 200, 429]
    assert client.post(url, {"name": "Guest", "email": "one@example.com"}).status_code == 429
