"""The line-up and the promo codes of an event: lists that are edited as text, one entry a line.

The values of a line have a | between them. All lines with a mistake are named at once.
"""

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from flask import Response, url_for
from flask.typing import ResponseReturnValue

from app.accounts.caller import Caller
from app.accounts.permissions import EVENTS_WRITE
from app.blueprints.pages.desk.event_form import format_local_time
from app.blueprints.pages.desk.form_parts import VERSION, format_amount
from app.blueprints.pages.desk.shell import DeskPages, do_once, go_to, render_desk_form
from app.blueprints.pages.forms import FORM_ERRORS, FilledForm, Form, Input
from app.blueprints.pages.inputs import parse_amount
from app.core.errors import NotFound
from app.core.languages import gettext, lazy_gettext
from app.core.text_normalization import clean_name
from app.events import actions, queries
from app.events.queries import OwnEvent
from app.web.access import may
from app.web.fields import Text, WholeNumber, field_error
from app.web.schema import Query, to_camel_case
from app.web.types import RawData

blueprint = DeskPages("desk_event_lists", __name__, url_prefix="/desk/events/<event_id>/lists")
WRITE = may(EVENTS_WRITE)
MAX_ACTS, MAX_CODES, MAX_TEXT, MAX_USES, MAX_AMOUNT_MINOR = 80, 200, 60_000, 10_000_000, 100_000_000_000
_PERCENT = re.compile(r"(\d{1,3}(?:[.,]\d{1,2})?)\s*%")
Entry = dict[str, Any]


class Lines(Text):
    """A list as text: `parse` makes an entry of the values of a line, or raises ValueError with what is wrong."""

    def __init__(self, parse: Callable[..., Entry], max_values: int, max_lines: int) -> None:
        super().__init__(max=MAX_TEXT, load_default=list)
        self.parse, self.max_values, self.max_lines = parse, max_values, max_lines

    def _deserialize(self, value: object, attr: str | None, data: RawData, **kwargs: object) -> Any:
        lines = super()._deserialize(value, attr, data, **kwargs).splitlines()
        entries, problems = [], []
        for number, line in enumerate(lines, 1):
            values = [part.strip() for part in line.split("|")]
            try:
                if len(values) > self.max_values:
                    raise ValueError(gettext("there are more than %(max)s values", max=self.max_values))
                if any(values):
                    entries.append(self.parse(*values))
            except ValueError as error:
                problems.append(gettext("Line %(number)s: %(problem)s.", number=number, problem=error))
        if problems:
            raise field_error("invalid_lines", " ".join(problems[:20]))
        if len(entries) > self.max_lines:
            raise field_error("invalid_lines", gettext("There are more than %(max)s lines.", max=self.max_lines))
        return entries


def parse_act(name: str, stage: str = "", begins: str = "", ends: str = "") -> Entry:
    """An entry of the line-up with the names of the API."""
    name = clean_name(name)
    if not 1 <= len(name) <= 200:
        raise ValueError(gettext("enter a name of at most 200 characters"))
    if len(stage) > 120:
        raise ValueError(gettext("the stage is longer than 120 characters"))
    return _without_empty({"name": name, "stage": stage, "startsAt": _parse_time(begins), "endsAt": _parse_time(ends)})


def parse_code(code: str, discount: str = "", max_uses: str = "", begins: str = "", ends: str = "") -> Entry:
    """A promo code with the names of the API."""
    if not 1 <= len(code) <= 40:
        raise ValueError(gettext("enter a code of at most 40 characters"))
    if any(unicodedata.category(character) == "Cf" for character in code):
        raise ValueError(gettext("the code has a character that nobody sees; type it again"))
    percent, amount = _PERCENT.fullmatch(discount), parse_amount(discount)
    percent_off = float(percent[1].replace(",", ".")) if percent else None
    if percent_off is not None and percent_off > 100:
        raise ValueError(gettext("a discount has at most 100 %"))
    if percent_off == 0 or (percent is None and not 0 < (amount or 0) <= MAX_AMOUNT_MINOR):
        raise ValueError(gettext("enter a discount like 10 % or N$ 50"))
    is_number = max_uses.isascii() and max_uses.isdigit() and len(max_uses) <= 8
    if max_uses and not (is_number and 1 <= int(max_uses) <= MAX_USES):
        raise ValueError(gettext("enter as a whole number how often the code can be used, or nothing"))
    return _without_empty(
        {
            "code": code,
            "percentOff": percent_off,
            "amountOffMinor": None if percent else amount,
            "maxUses": int(max_uses) if max_uses else None,
            "startsAt": _parse_time(begins),
            "endsAt": _parse_time(ends),
        }
    )


def _without_empty(entry: Entry) -> Entry:
    if entry["startsAt"] and entry["endsAt"] and entry["endsAt"] <= entry["startsAt"]:
        raise ValueError(gettext("the end must be after the beginning"))
    return {name: value for name, value in entry.items() if value not in (None, "")}


def _parse_time(text: str) -> datetime | None:
    """A time on the clock of the event, like 2027-06-04 20:00; None for nothing. Raises ValueError."""
    if not text:
        return None
    try:
        moment = datetime.strptime(text, "%Y-%m-%d %H:%M")
        if not 1900 <= moment.year < 9999:
            raise ValueError(text)
    except ValueError:
        raise ValueError(gettext("enter a time like 2027-06-04 20:00")) from None
    return moment


def _format_entry(*values: object) -> str:
    return " | ".join("" if value is None else str(value) for value in values).rstrip(" |")


def _format_time(entry: Mapping[str, Any], name: str, zone: str) -> str:
    moment = datetime.fromisoformat(entry[name]) if entry.get(name) else None
    return format_local_time(moment, zone).replace("T", " ")[:16]


def format_act(entry: Mapping[str, Any], zone: str) -> str:
    """The line of an entry of the line-up."""
    times = (_format_time(entry, name, zone) for name in ("startsAt", "endsAt"))
    return _format_entry(entry["name"], entry.get("stage"), *times)


def format_code(entry: Mapping[str, Any], zone: str) -> str:
    """The line of a promo code."""
    percent = entry.get("percentOff")
    discount = f"N$ {format_amount(entry['amountOffMinor'])}" if percent is None else f"{percent:g} %"
    times = (_format_time(entry, name, zone) for name in ("startsAt", "endsAt"))
    return _format_entry(entry["code"], discount, entry.get("maxUses"), *times)


class LineupSchema(Query):
    lineup = Lines(parse_act, 4, MAX_ACTS)
    version = WholeNumber(required=True)


class CodesSchema(Query):
    promo_codes = Lines(parse_code, 5, MAX_CODES)
    version = WholeNumber(required=True)


@dataclass(frozen=True)
class EntryList:
    """A list of an event: its column, its key, what the page says, and how a line is made.

    `kept` are the properties that the text does not have; an entry with the same key keeps them.
    """

    column: str
    key: str
    kept: Sequence[str]
    title: str
    lead: str
    form: Form
    format: Callable[[Mapping[str, Any], str], str]


def _build_form(schema: type[Query], name: str, label: str, hint: str) -> Form:
    messages = {"duplicate": lazy_gettext("There are two lines for the same code.")}
    form = Form(schema, Input(name, label, hint=hint, type="textarea", messages=messages), VERSION)
    form.marks_optional = False
    return form


LISTS = {
    "lineup": EntryList(
        "lineup",
        "name",
        ("imageUrl",),
        lazy_gettext("Line-up"),
        lazy_gettext(
            "Who plays where and when. It is on the page of the event, and people find the event by the names."
        ),
        _build_form(
            LineupSchema,
            "lineup",
            lazy_gettext("One act a line"),
            lazy_gettext(
                "Name | stage | begins | ends. Only the name is needed. For example: Elemotho | River stage | 2027-06-04 20:00 | 2027-06-04 21:30"
            ),
        ),
        format_act,
    ),
    "promo-codes": EntryList(
        "promo_codes",
        "code",
        ("ticketTypeIds",),
        lazy_gettext("Promo codes"),
        lazy_gettext("Your ticket seller and your blocks of places use them. Only people who may read money see them."),
        _build_form(
            CodesSchema,
            "promoCodes",
            lazy_gettext("One code a line"),
            lazy_gettext(
                "Code | discount | how often | from | until. Code and discount are needed. For example: EARLYBIRD | 10 % | 100 | 2027-03-01 08:00 | 2027-03-31 23:59"
            ),
        ),
        format_code,
    ),
}


@blueprint.page("/<name>", access=WRITE)
def show(caller: Caller, event_id: str, name: str) -> ResponseReturnValue:
    """Show a list as text."""
    event, entry_list = queries.get_event(caller, event_id), _get_list(name)
    entries = getattr(event, entry_list.column)
    text = "\n".join(entry_list.format(entry, event.timezone) for entry in entries)
    return _render(event, entry_list, _fill(entry_list, text, str(queries.get_version(event))))


@blueprint.act("/<name>", access=WRITE)
def change(caller: Caller, event_id: str, name: str) -> ResponseReturnValue:
    """Save a list, unless somebody else has changed the event since the form was opened."""
    event, entry_list = queries.get_event(caller, event_id), _get_list(name)
    form = entry_list.form.from_request()
    try:
        values = form.load()
        old_entries = {entry[entry_list.key]: entry for entry in getattr(event, entry_list.column)}
        entries = [
            _keep(entry_list, entry, old_entries.get(entry[entry_list.key], {})) for entry in values[entry_list.column]
        ]
        fields: dict[str, Any] = {entry_list.column: entries}
        version = values["version"]
        do_once(caller, lambda: actions.change_event(caller=caller, id=event_id, expected_version=version, **fields).id)
    except FORM_ERRORS as error:
        return _render(event, entry_list, form.with_error(error))
    return go_to(url_for("desk_event.show", event_id=event_id), gettext("%(list)s: saved.", list=entry_list.title))


def _fill(entry_list: EntryList, text: str, version: str) -> FilledForm:
    return entry_list.form.fill(**{to_camel_case(entry_list.column): text, "version": version})


def _keep(entry_list: EntryList, entry: Entry, old_entry: Mapping[str, Any]) -> Entry:
    return {**{name: old_entry[name] for name in entry_list.kept if name in old_entry}, **entry}


def _get_list(name: str) -> EntryList:
    if name not in LISTS:
        raise NotFound()
    return LISTS[name]


def _render(event: OwnEvent, entry_list: EntryList, form: FilledForm) -> Response:
    return render_desk_form(
        form,
        event=event,
        title=entry_list.title,
        lead=entry_list.lead,
        button=gettext("Save"),
        back=url_for("desk_event.show", event_id=event.id),
    )
