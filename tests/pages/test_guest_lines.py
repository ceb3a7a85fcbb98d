"""The field with one guest a line: what is a guest, what is skipped, and what is refused."""

import time

import pytest
from flask import Flask
from marshmallow import ValidationError

from app.blueprints.pages.guest_lines import GuestLines
from app.web.schema import Query


class ListSchema(Query):
    recipients = GuestLines(max_guests=10, required=True)


def read(app: Flask, text: str) -> list[str]:
    """Return the guests of a text, each as one line."""
    with app.test_request_context():
        recipients = ListSchema().load({"recipients": text})["recipients"]
    return [_describe_guest(**guest) for guest in recipients]


def _describe_guest(name: str, email: str = "", quantity: int = 1, delivery: str = "") -> str:
    assert bool(email) != bool(delivery)
    return name + (f" {email}" if email else "") + (f" +{quantity - 1}" if quantity > 1 else "")


def refuse(app: Flask, text: str) -> list[str]:
    """Return what is wrong with a text, each line apart."""
    with app.test_request_context(), pytest.raises(ValidationError) as caught:
        ListSchema().load({"recipients": text})
    (problem,) = caught.value.messages_dict["recipients"]
    return str(problem).splitlines()


def describe(address: str) -> str:
    return f"“{address}” is not an e-mail address. Write a name, or a name and an address."


@pytest.mark.parametrize("separator", [", ", "\t", ";", " <"])
def test_what_stands_for_an_address_without_an_at_sign_is_refused(app: Flask, separator: str) -> None:
    text = f"Anna, anna@example.com\n\nWrong Nmae{separator}notanemail\nBen"
    assert refuse(app, text) == [f"Line 3: {describe('notanemail')}"]


def test_all_wrong_lines_are_said_with_their_numbers(app: Flask) -> None:
    lines = [
        "Name,E-mail",
        "Anna, anna@example.com",
        "Ben, 081 123 4567",
        f"Carla, {'c' * 70}",
        "Dino, x, y",
        "Eva +2, z",
    ]
    assert refuse(app, "\n".join(lines)) == [
        f"Line 3: {describe('081 123 4567')}",
        f"Line 4: {describe('c' * 60 + '…')}",
        f"Line 5: {describe('x')}",
        f"Line 6: {describe('z')}",
    ]


def test_a_list_without_addresses_may_have_last_and_first_names(app: Flask) -> None:
    text = "Surname, First name\nShilongo, Anna\nSheehama, Ras +2\nElemotho"
    assert read(app, text) == ["Shilongo Anna", "Sheehama Ras +2", "Elemotho"]
    assert refuse(app, "Shilongo, Anna\nBen, ben@example.com") == [f"Line 1: {describe('Anna')}"]
    for text in ("Shilongo; Anna", "Shilongo\tAnna", "Shilongo, Anna, Windhoek"):
        assert refuse(app, text) == [f"Line 1: {describe('Anna')}"], text
    assert refuse(app, "Shilongo, 081 123 4567") == [f"Line 1: {describe('081 123 4567')}"]


def test_the_size_of_a_party_may_have_a_comma(app: Flask) -> None:
    assert read(app, "Ras Sheehama, +2\nAnna, anna@example.com\nShilongo, Anna, anna@example.com") == [
        "Ras Sheehama +2",
        "Anna anna@example.com",
        "Shilongo Anna anna@example.com",
    ]


@pytest.mark.parametrize(
    "heading",
    [
        "Name,E-mail",
        "Naam / E-pos",
        "Name;Mail",
        "NAME\tE-MAIL ADDRESS",
        "Voornaam, Van, E-posadres",
        "Vorname;Nachname;E-Mail-Adresse",
        "Guest | Email",
        "Gast, E-Mail:",
        "Name",
        "Naam",
    ],
)
def test_headings_are_skipped(app: Flask, heading: str) -> None:
    assert read(app, f"{heading}\nAnna, anna@example.com") == ["Anna anna@example.com"]
    assert refuse(app, f"{heading}\nwww.example.com") == ["Line 2: a web address is not allowed in a name."]
    assert refuse(app, f"\n{heading}\n") == ["Enter at least one guest."]


def test_quotation_marks_around_names_are_left_out(app: Flask) -> None:
    text = '"Frieda Amupolo" <frieda@example.com>\n"Amupolo, Anna",anna@example.com\n„Jonas O\'Neill“'
    assert read(app, text) == ["Frieda Amupolo frieda@example.com", "Amupolo Anna anna@example.com", "Jonas O'Neill"]


def test_a_line_of_blanks_is_read_at_once(app: Flask) -> None:
    start = time.monotonic()
    assert read(app, f"a{' ' * 90_000}b") == ["a b"]
    assert time.monotonic() - start < 1


def test_people_whose_names_are_like_headings_are_guests(app: Flask) -> None:
    people = ["Van", "Guest", "Gast +2", "Name Van Wyk"]
    assert read(app, "\n".join(people)) == people
    assert refuse(app, "List of names and e-mail") == [
        "Line 1: this is not a guest. Leave out the headings of columns."
    ]


def test_headings_are_no_guests_of_the_limit(app: Flask) -> None:
    guests = [f"Guest {number}" for number in range(10)]
    assert read(app, "\n".join(["Name, E-mail", *guests])) == guests
