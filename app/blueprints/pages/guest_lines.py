"""A field of forms with one guest a line, and what it says about lines that it cannot read."""

import re
from typing import Any, Unpack

from marshmallow import ValidationError

from app.allocations import states
from app.allocations.errors import InsufficientSlots
from app.blueprints.pages.forms import Input
from app.core.languages import gettext, lazy_gettext, ngettext
from app.web.fields import Choice, Email, Text, WholeNumber, field_error
from app.web.scans import MAX_PARTY_SIZE
from app.web.schema import Query
from app.web.text_fields import EmailName
from app.web.types import FieldOptions, RawData

MAX_WRONG_LINES, MAX_QUOTE_LENGTH = 10, 60
PARTY = re.compile(r"(.+?) ?\+ ?(\d{1,6})")
QUOTES = '"“”„«»'
"""Around names in copied addresses and files."""
SIZE = re.compile(r"\+\s*\d{1,6}")
SEPARATORS = re.compile(r"[,;\t<>]")
OTHER_SEPARATORS = re.compile(r"[;\t<>]")
HEADING_SEPARATORS = re.compile(r"[,;\t<>/|]")
HEADING = re.compile(r"\be-?mail\b", re.IGNORECASE)
SINGLE_HEADINGS = frozenset({"name", "names", "naam", "mail", "email", "epos"})
HEADINGS = SINGLE_HEADINGS.union(
    ("fullname", "firstname", "lastname", "surname", "guest", "guests", "emailaddress", "mailaddress", "address"),
    ("vorname", "nachname", "gast", "gäste", "emailadresse", "mailadresse", "adresse"),
    ("vollenaam", "voornaam", "van", "gas", "gaste", "eposadres", "adres"),
)
"""The headings of columns in English, German and Afrikaans, in lower case and without what is no letter."""
GUESTS = Input(
    "recipients",
    lazy_gettext("Guests"),
    hint=lazy_gettext(
        "One a line: name, e-mail address. For example: Frieda Amupolo, frieda@example.com. A name alone goes on the "
        "list at the gate; for a party of three write: Ras Sheehama +2"
    ),
    type="textarea",
    messages={"required": lazy_gettext("Enter at least one guest.")},
    error_codes=(InsufficientSlots.code,),
)


class RecipientSchema(Query):
    name = EmailName(required=True, min=1, max=200)
    email = Email()
    delivery = Choice(*states.DELIVERIES)
    quantity = WholeNumber(min=1, max=MAX_PARTY_SIZE)


class GuestLines(Text):
    """One guest a line: a name and an address, with a comma, a semicolon or a tab between them.

    A name alone is a guest on the list at the gate; "+2" after it is a party of three. Headings of columns are skipped. If
    the text has no address at all, a comma may also stand between a last and a first name. The error has a line for each
    wrong one, for the person who typed them.
    """

    def __init__(self, *, max_guests: int, **kwargs: Unpack[FieldOptions]) -> None:
        super().__init__(**kwargs)
        self.max_guests = max_guests

    def _deserialize(self, value: object, attr: str | None, data: RawData, **kwargs: object) -> Any:
        text = super()._deserialize(value, attr, data, **kwargs)
        lines = [(number, line) for number, line in enumerate(text.splitlines(), start=1) if line.strip()]
        lines = [(number, line) for number, line in lines if not _is_heading(line)]
        if not lines:
            raise field_error("required", gettext("Enter at least one guest."))
        if len(lines) > self.max_guests:
            raise field_error("too_many", gettext("Enter at most %(most)s guests at once.", most=self.max_guests))
        recipients, problems = [], []
        for number, line in lines:
            try:
                recipients.append(_parse_line(line, has_addresses="@" in text))
            except _WrongLine as error:
                problems.append(gettext("Line %(number)s: %(problem)s", number=number, problem=error))
        if problems:
            more = len(problems) - MAX_WRONG_LINES
            others = [ngettext("And %(num)s other line.", "And %(num)s other lines.", more)] if more > 0 else []
            raise field_error("wrong_lines", "\n".join([*problems[:MAX_WRONG_LINES], *others]))
        return recipients


class _WrongLine(Exception):
    """A line that is no guest; its text says why."""


def _is_heading(line: str) -> bool:
    """Whether a line has only headings of columns; of one column only those that are no name of a person."""
    words = [re.sub(r"[\W_]", "", part).casefold() for part in HEADING_SEPARATORS.split(line) if part.strip()]
    return bool(words) and all(word in (HEADINGS if len(words) > 1 else SINGLE_HEADINGS) for word in words)


def _parse_line(line: str, *, has_addresses: bool) -> dict[str, Any]:
    parts = [part for text in SEPARATORS.split(line) if (part := " ".join(text.split()).strip(f" {QUOTES}"))]
    addresses = [part for part in parts if "@" in part]
    name = " ".join(part for part in parts if part not in addresses)
    party = PARTY.fullmatch(name)
    if len(addresses) > 1:
        raise _WrongLine(gettext("there is more than one e-mail address. Write each guest on a line of their own."))
    if addresses and party:
        raise _WrongLine(gettext("a party has no e-mail address. Leave out the address, or the number."))
    if not addresses and HEADING.search(name):
        raise _WrongLine(gettext("this is not a guest. Leave out the headings of columns."))
    if not addresses and (wrong := _find_wrong_address(line, parts, has_addresses=has_addresses)):
        raise _WrongLine(
            gettext(
                "“%(address)s” is not an e-mail address. Write a name, or a name and an address.",
                address=_shorten(wrong),
            )
        )
    if addresses:
        recipient: dict[str, Any] = {"name": name, "email": addresses[0]}
    elif party:
        recipient = {"name": party[1], "delivery": states.WILL_CALL, "quantity": int(party[2]) + 1}
    else:
        recipient = {"name": name, "delivery": states.WILL_CALL}
    try:
        loaded: dict[str, Any] = RecipientSchema().load(recipient)
    except ValidationError as error:
        raise _WrongLine(_describe_problem(recipient, error)) from error
    return loaded


def _find_wrong_address(line: str, parts: list[str], *, has_addresses: bool) -> str | None:
    """Return what stands for the address in a line without one; None in `Name`, `Name, +2` and `Last name, first name`."""
    texts = [part for part in parts if not SIZE.fullmatch(part)]
    if len(texts) < 2:
        return None
    has_digits = any(map(str.isdigit, texts[1].partition("+")[0]))
    is_whole_name = len(texts) == 2 and not has_addresses and not OTHER_SEPARATORS.search(line) and not has_digits
    return None if is_whole_name else texts[1]


def _shorten(text: str) -> str:
    return text if len(text) <= MAX_QUOTE_LENGTH else f"{text[:MAX_QUOTE_LENGTH]}…"


def _describe_problem(recipient: dict[str, Any], error: ValidationError) -> str:
    problems = error.messages_dict
    if "email" in problems:
        return gettext("“%(address)s” is not an e-mail address.", address=_shorten(recipient["email"]))
    if "quantity" in problems:
        return gettext("a party has at most %(most)s people.", most=MAX_PARTY_SIZE)
    code = problems["name"][0].code
    if code == "link_not_allowed":
        return gettext("a web address is not allowed in a name.")
    if code == "too_long":
        return gettext("the name has more than 200 characters.")
    return gettext("the name is missing.")
