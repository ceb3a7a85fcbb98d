"""The line-up, the sponsors and the promo codes of an event: lists that are edited in rows of fields."""

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from flask import Response, request, url_for
from flask.typing import ResponseReturnValue

from app.accounts.caller import Caller
from app.accounts.permissions import EVENTS_WRITE
from app.blueprints.pages.desk.event_form import END_MESSAGE, format_local_time
from app.blueprints.pages.desk.form_parts import WRONG_NUMBER, format_amount
from app.blueprints.pages.desk.row_forms import EMPTY_ROWS, RowForm, RowList
from app.blueprints.pages.desk.shell import DeskPages, do_once, go_to, render_desk_form
from app.blueprints.pages.desk.sponsor_logos import LOGO, LOGO_URL, store_logos
from app.blueprints.pages.forms import FORM_ERRORS, Input, find_upload_error, load_with
from app.blueprints.pages.inputs import TypedLink, parse_amount
from app.core.errors import NotFound, ValidationFailed
from app.core.formatting import format_period
from app.core.languages import gettext, lazy_gettext
from app.events import actions, queries
from app.events.queries import OwnEvent
from app.media.actions import MAX_PICTURE_FORM_BYTES
from app.web.access import may
from app.web.fields import EndTimeField, Text, TimeField, WholeNumber, field_error
from app.web.schema import Query, to_camel_case
from app.web.text_fields import ImageUrl, Name
from app.web.types import RawData

blueprint = DeskPages(
    "desk_event_lists", __name__, url_prefix="/desk/events/<event_id>/lists", max_bytes=MAX_PICTURE_FORM_BYTES
)
WRITE = may(EVENTS_WRITE)
MAX_ACTS, MAX_SPONSORS, MAX_CODES, MAX_USES, MAX_AMOUNT_MINOR = 80, 200, 200, 10_000_000, 100_000_000_000
_PERCENT = re.compile(r"(\d{1,3}(?:[.,]\d{1,15})?)\s*%")
TIMES = ("startsAt", "endsAt")
Entry = dict[str, Any]
Stored = Mapping[str, Any]


class Code(Text):
    """A promo code. Characters that nobody sees are refused."""

    def _deserialize(self, value: object, attr: str | None, data: RawData, **kwargs: object) -> Any:
        code = super()._deserialize(value, attr, data, **kwargs)
        if any(unicodedata.category(character) == "Cf" for character in code):
            raise field_error("invalid_characters", "Has characters that nobody sees.")
        return code


class Discount(Text):
    """A discount as people type it, like `10 %` or `N$ 50`, as a property of the API and its value."""

    def _deserialize(self, value: object, attr: str | None, data: RawData, **kwargs: object) -> Any:
        text = super()._deserialize(value, attr, data, **kwargs)
        percent, amount_minor = _PERCENT.fullmatch(text), parse_amount(text)
        percent_off = float(percent[1].replace(",", ".")) if percent else None
        if percent_off is not None and percent_off > 100:
            raise field_error("too_large", "A discount has at most 100 %.")
        if percent is None and not 0 < (amount_minor or 0) <= MAX_AMOUNT_MINOR:
            raise field_error("invalid_type", "Must be a discount like 10 % or N$ 50.")
        return ("percentOff", percent_off) if percent else ("amountOffMinor", amount_minor)


class OrderedSchema(Query):
    position = WholeNumber(min=1, max=999)


class ActSchema(OrderedSchema):
    name = Name(required=True, min=1, max=200)
    stage = Text(max=120)
    starts_at = TimeField()
    ends_at = EndTimeField()


class SponsorSchema(OrderedSchema):
    name = Name(required=True, min=1, max=200)
    tier = Text(max=80)
    href = TypedLink()
    logo_url = ImageUrl()


class CodeSchema(Query):
    code = Code(required=True, min=1, max=40)
    discount = Discount(required=True)
    max_uses = WholeNumber(min=1, max=MAX_USES)
    starts_at = TimeField()
    ends_at = EndTimeField()


def build_entry(values: Mapping[str, Any]) -> Entry:
    """An entry with the names of the API."""
    return {to_camel_case(name): value for name, value in values.items()}


def build_code(values: Mapping[str, Any]) -> Entry:
    """A promo code with the names of the API."""
    property_name, amount = values["discount"]
    return {property_name: amount, **build_entry({name: values[name] for name in values if name != "discount"})}


def format_act(entry: Stored, zone: str) -> dict[str, str]:
    """The fields of an entry of the line-up."""
    return {"name": entry["name"], "stage": entry.get("stage") or "", **_format_times(entry, zone)}


def format_sponsor(entry: Stored, zone: str) -> dict[str, str]:
    """The fields of a sponsor."""
    return {name: entry.get(name) or "" for name in ("name", "tier", "href", "logoUrl")}


def format_code(entry: Stored, zone: str) -> dict[str, str]:
    """The fields of a promo code."""
    percent = entry.get("percentOff")
    return {
        "code": entry["code"],
        "discount": f"N$ {format_amount(entry['amountOffMinor'])}"
        if percent is None
        else f"{Decimal(repr(float(percent))):f} %".replace(".0 %", " %"),
        "maxUses": str(entry.get("maxUses") or ""),
        **_format_times(entry, zone),
    }


def _format_times(entry: Stored, zone: str) -> dict[str, str]:
    return {
        name: format_local_time(datetime.fromisoformat(entry[name]) if entry.get(name) else None, zone)
        for name in TIMES
    }


@dataclass(frozen=True)
class EntryList:
    """A list of an event: its column, its key, what the page says, its rows, and how an entry is made and shown.

    `kept` are the properties that the rows do not have; an entry with the same key keeps them. With
    `keeps_when_renamed` an entry whose key is changed in its row keeps them too.
    """

    column: str
    key: str
    kept: Sequence[str]
    keeps_when_renamed: bool
    title: str
    lead: str
    rows: RowList
    build: Callable[[Mapping[str, Any]], Entry]
    format: Callable[[Stored, str], dict[str, str]]


LISTS = {
    "lineup": EntryList(
        "lineup",
        "name",
        ("imageUrl",),
        False,
        lazy_gettext("Line-up"),
        lazy_gettext(
            "Who plays where and when. It is on the page of the event, and people find the event by the names. "
            "Acts with a time are there in the order of their times. Only the name is needed; a row that you empty is removed."
        ),
        RowList(
            "lineup",
            ActSchema,
            lazy_gettext("Act %(number)s"),
            MAX_ACTS,
            Input("name", lazy_gettext("Name"), messages={"required": lazy_gettext("Enter a name.")}),
            Input("stage", lazy_gettext("Stage")),
            Input("startsAt", lazy_gettext("Begins"), type="datetime-local"),
            Input("endsAt", lazy_gettext("Ends"), type="datetime-local", messages={"contradiction": END_MESSAGE}),
            is_ordered=True,
        ),
        build_entry,
        format_act,
    ),
    "sponsors": EntryList(
        "sponsors",
        "name",
        (),
        False,
        lazy_gettext("Sponsors"),
        lazy_gettext(
            "They are on the page of the event, in this order. Only the name is needed; a row that you empty is removed."
        ),
        RowList(
            "sponsors",
            SponsorSchema,
            lazy_gettext("Sponsor %(number)s"),
            MAX_SPONSORS,
            Input("name", lazy_gettext("Name"), messages={"required": lazy_gettext("Enter a name.")}),
            Input("tier", lazy_gettext("Level"), hint=lazy_gettext("For example: gold.")),
            Input(
                "href",
                lazy_gettext("Website"),
                inputmode="url",
                messages={"invalid_url": lazy_gettext("Enter a web address like https://example.com.")},
            ),
            Input(LOGO, lazy_gettext("Logo"), hint=lazy_gettext("JPEG, PNG or WebP, up to 5 MB."), type="file"),
            Input(
                LOGO_URL,
                lazy_gettext("Address of the logo"),
                hint=lazy_gettext(
                    "A file fills it in. The page shows pictures of this service only. Empty it to remove the logo."
                ),
                inputmode="url",
                messages={"invalid_url": lazy_gettext("Enter an address that begins with https://.")},
            ),
            is_ordered=True,
        ),
        build_entry,
        format_sponsor,
    ),
    "promo-codes": EntryList(
        "promo_codes",
        "code",
        ("ticketTypeIds",),
        True,
        lazy_gettext("Promo codes"),
        lazy_gettext(
            "Your ticket seller and your blocks of places use them. Only people who may read money see them. "
            "Code and discount are needed; a row that you empty is removed. A code that is for some ticket types only "
            "stays so."
        ),
        RowList(
            "promo_codes",
            CodeSchema,
            lazy_gettext("Code %(number)s"),
            MAX_CODES,
            Input(
                "code",
                lazy_gettext("Code"),
                messages={
                    "required": lazy_gettext("Enter a code."),
                    "duplicate": lazy_gettext("There are two rows for the same code."),
                    "invalid_characters": lazy_gettext("The code has a character that nobody sees. Type it again."),
                },
            ),
            Input(
                "discount",
                lazy_gettext("Discount"),
                hint=lazy_gettext("10 % or N$ 50."),
                messages={
                    "required": lazy_gettext("Enter a discount like 10 % or N$ 50."),
                    "invalid_type": lazy_gettext("Enter a discount like 10 % or N$ 50."),
                    "too_large": lazy_gettext("A discount has at most 100 %."),
                },
            ),
            Input(
                "maxUses",
                lazy_gettext("How often"),
                hint=lazy_gettext("Empty: no limit."),
                inputmode="numeric",
                messages={"invalid_type": WRONG_NUMBER, "too_small": lazy_gettext("Enter 1 or more, or nothing.")},
            ),
            Input("startsAt", lazy_gettext("From"), type="datetime-local"),
            Input("endsAt", lazy_gettext("Until"), type="datetime-local", messages={"contradiction": END_MESSAGE}),
        ),
        build_code,
        format_code,
    ),
}


@blueprint.page("/<name>", access=WRITE)
def show(caller: Caller, event_id: str, name: str) -> ResponseReturnValue:
    """Show a list in rows."""
    event, entry_list = queries.get_event(caller, event_id), _get_list(name)
    entries = [entry_list.format(entry, event.timezone) for entry in getattr(event, entry_list.column)]
    form = entry_list.rows.fill(entries, version=str(queries.get_version(event)))
    error = find_upload_error(MAX_PICTURE_FORM_BYTES)
    return _render(event, entry_list, form.with_error(error) if error else form)


@blueprint.act("/<name>", access=WRITE)
def change(caller: Caller, event_id: str, name: str) -> ResponseReturnValue:
    """Save a list, unless somebody else has changed the event since the form was opened; or show more rows."""
    event, entry_list = queries.get_event(caller, event_id), _get_list(name)
    adds_rows = bool(request.form.get("addRows"))
    form = entry_list.rows.from_request(more_rows=EMPTY_ROWS if adds_rows else 0)
    try:
        form, problems = store_logos(caller, form)
        if adds_rows:
            return _render(event, entry_list, form.with_error(ValidationFailed(problems)) if problems else form)
        values = load_with(form, problems)
        rows = values[entry_list.column]
        order = form.sort(rows)
        entries = [entry_list.build({name: value for name, value in row.items() if name != "position"}) for row in rows]
        old_entries = getattr(event, entry_list.column)
        kept_entries = [
            _keep(entry_list, event, entry, _find_old_entry(entry_list, old_entries, row, entry))
            for row, entry in zip(form.filled_rows, entries, strict=True)
        ]
        fields: dict[str, Any] = {entry_list.column: [kept_entries[index] for index in order]}
        version = values["version"]
        try:
            do_once(
                caller,
                lambda: (
                    actions.change_event(
                        caller=caller, id=event_id, expected_version=version, checks_act_times=True, **fields
                    ).id
                ),
            )
        except ValidationFailed as error:
            raise _describe_problems(event, entry_list, error, order) from error
    except FORM_ERRORS as error:
        return _render(event, entry_list, form.with_error(error))
    return go_to(url_for("desk_event.show", event_id=event_id), gettext("%(list)s: saved.", list=entry_list.title))


def _describe_problems(
    event: OwnEvent, entry_list: EntryList, error: ValidationFailed, order: Sequence[int]
) -> ValidationFailed:
    """The error with the rows as they were sent, and with the times of the event where an act is outside it."""
    problems = []
    of_row = re.compile(rf"^({entry_list.column}|{to_camel_case(entry_list.column)})\[(\d+)\]")
    for problem in error.data["errors"]:
        path = of_row.sub(lambda match: f"{match[1]}[{order[int(match[2])]}]", problem["path"])
        message = problem["message"]
        if problem["code"] == "outside_event":
            period = format_period(event.starts_at, event.ends_at, event.timezone)
            message = gettext("Enter a time during the event: %(period)s.", period=period)
        problems.append({**problem, "path": path, "message": message})
    return ValidationFailed(problems)


def _find_old_entry(entry_list: EntryList, old_entries: Sequence[Stored], row: int, entry: Entry) -> Stored:
    """The entry as it was: that of the same row or another one with the same key, else the renamed one of the row."""
    key = entry_list.key
    in_row = old_entries[row] if row < len(old_entries) else None
    for old_entry in ([in_row] if in_row else []) + list(old_entries):
        if old_entry[key].casefold() == entry[key].casefold():
            return old_entry
    return in_row if in_row and entry_list.keeps_when_renamed else {}


def _keep(entry_list: EntryList, event: OwnEvent, entry: Entry, old_entry: Stored) -> Entry:
    """The entry with what the rows do not have, and with the times that are typed as they were shown.

    When the clocks change, one time on the clock is two moments.
    """
    kept = {name: old_entry[name] for name in entry_list.kept if name in old_entry}
    former_times = _format_times(old_entry, event.timezone)
    unchanged_times = {
        name: datetime.fromisoformat(old_entry[name])
        for name in TIMES
        if former_times[name] and name in entry and datetime.fromisoformat(former_times[name]) == entry[name]
    }
    return {**kept, **entry, **unchanged_times}


def _get_list(name: str) -> EntryList:
    if name not in LISTS:
        raise NotFound()
    return LISTS[name]


def _render(event: OwnEvent, entry_list: EntryList, form: RowForm) -> Response:
    return render_desk_form(
        form,
        event=event,
        title=entry_list.title,
        lead=f"{entry_list.lead} {_describe_times(event)}" if entry_list.column == "lineup" else entry_list.lead,
        button=gettext("Save"),
        back=url_for("desk_event.show", event_id=event.id),
        template="desk/event_list.html",
        has_files=any(input_.type == "file" for input_ in entry_list.rows.inputs),
    )


def _describe_times(event: OwnEvent) -> str:
    return gettext("The event: %(period)s.", period=format_period(event.starts_at, event.ends_at, event.timezone))
