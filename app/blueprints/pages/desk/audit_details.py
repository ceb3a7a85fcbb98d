"""The details of an entry of the audit trail: what was changed in an event, and the amounts of money."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from app.blueprints.pages.desk.event_words import CATEGORY_LABELS, VISIBILITY_LABELS
from app.blueprints.pages.desk.gate import REENTRY_WORDS
from app.blueprints.pages.desk.tables import Column, Row
from app.core.formatting import format_country, format_money, format_number, format_short_time
from app.core.languages import gettext, lazy_gettext
from app.core.spreadsheet_cells import escape

FIELD_LABELS = {
    "name": lazy_gettext("Name"),
    "slug": lazy_gettext("Address of the page"),
    "description": lazy_gettext("Description"),
    "coverImageUrl": lazy_gettext("Cover picture"),
    "posterImageUrl": lazy_gettext("Poster"),
    "venue": lazy_gettext("Venue"),
    "city": lazy_gettext("City"),
    "country": lazy_gettext("Country"),
    "latitude": lazy_gettext("Latitude"),
    "longitude": lazy_gettext("Longitude"),
    "timezone": lazy_gettext("Time zone"),
    "startsAt": lazy_gettext("Starts"),
    "endsAt": lazy_gettext("Ends"),
    "salesEndAt": lazy_gettext("Sales end"),
    "applicationsEndAt": lazy_gettext("Applications for stalls end"),
    "ticketsUrl": lazy_gettext("Where people buy tickets"),
    "publishAt": lazy_gettext("Publish at"),
    "reentry": lazy_gettext("Entering again"),
    "capacity": lazy_gettext("Capacity"),
    "category": lazy_gettext("Category"),
    "isCashless": lazy_gettext("Cashless"),
    "keywords": lazy_gettext("Keywords"),
    "allowedPaymentOptionSlugs": lazy_gettext("Ways to pay"),
    "bulkDiscounts": lazy_gettext("Discounts for many tickets"),
    "paymentMethodDiscounts": lazy_gettext("Discounts for ways to pay"),
    "sponsors": lazy_gettext("Sponsors"),
    "tables": lazy_gettext("Tables"),
    "lineup": lazy_gettext("Line-up"),
    "promotion": lazy_gettext("Promotion"),
    "priceMinor": lazy_gettext("Price"),
    "feeMinor": lazy_gettext("Fee"),
    "quantity": lazy_gettext("How many there are"),
    "minPerOrder": lazy_gettext("Fewest in one order"),
    "maxPerOrder": lazy_gettext("Most in one order"),
    "validFrom": lazy_gettext("The gate admits from"),
    "validUntil": lazy_gettext("The gate admits until"),
    "phases": lazy_gettext("Phases"),
}
"""The fields of an event and its types, by their names in an entry."""
COUNTS = {
    "quantity": lazy_gettext("Places: %(count)s"),
    "guests": lazy_gettext("Guests: %(count)s"),
    "count": lazy_gettext("How many: %(count)s"),
    "messages": lazy_gettext("Messages: %(count)s"),
    "tickets": lazy_gettext("Tickets: %(count)s"),
}
TIMES = frozenset({"startsAt", "endsAt", "salesEndAt", "applicationsEndAt", "publishAt", "validFrom", "validUntil"})


BLOCK_FIELDS = {
    "name": lazy_gettext("Name"),
    "quantity": lazy_gettext("Places"),
    "unit_price_minor": lazy_gettext("Price of a place"),
    "kind": lazy_gettext("Kind"),
    "guests_may_pass_on": lazy_gettext("Guests may pass their tickets on"),
    "guests_may_give_back": lazy_gettext("Guests may give their tickets back"),
    "notes": lazy_gettext("Notes"),
    "release_at": lazy_gettext("Day on which places are given back"),
    "release_plan": lazy_gettext("When places are given back"),
    "pay_by": lazy_gettext("Pay by"),
}
"""The facts of a block, by their names in an entry; the others are of its holder or buyer."""
HOLDER, BUYER = lazy_gettext("Holder"), lazy_gettext("Address on the invoice")


class SubjectColumn(Column):
    """What an entry was done on, with its name of today."""

    def format(self, row: Row) -> str:
        kind = super().format(row)
        return f"{kind}: {row['subject_name']}" if row["subject_name"] else kind

    def format_csv(self, row: Row, zone: str = "") -> str:
        return escape(self.format(row))


class DetailsColumn(Column):
    """The data of an entry as text. `labels` has the names of events by id."""

    def format(self, row: Row) -> str:
        return _describe(row[self.key], self.labels)

    def format_csv(self, row: Row, zone: str = "") -> str:
        return escape(self.format(row))


def _describe(data: Mapping[str, Any], event_names: Mapping[str, str]) -> str:
    if "fields" in data:
        changes = "; ".join(_describe_field(name, data.get("from", {}), data.get("to", {})) for name in data["fields"])
        return f"{data['name']}: {changes}" if data.get("name") else changes
    if isinstance(data.get("changed"), list) and "link" not in data:
        return ", ".join(dict.fromkeys(_name_block_field(name) for name in data["changed"]))
    if "created" in data and "updated" in data:
        return gettext("%(created)s new, %(updated)s changed", created=data["created"], updated=data["updated"])
    if "removed" in data and "changed" in data:
        return gettext("%(added)s added, %(changed)s changed, %(removed)s removed", **data)
    if "amountMinor" in data or "totalMinor" in data:
        return _describe_money(data)
    for name, text in COUNTS.items():
        if isinstance(data.get(name), int):
            return text % {"count": format_number(data[name])}
    if "gate" in data:
        return str(data["gate"])
    if "visibility" in data:
        return str(VISIBILITY_LABELS.get(data["visibility"], ""))
    if "copiedFrom" in data:
        return gettext("Copy of %(event)s", event=event_names.get(data["copiedFrom"], data["copiedFrom"]))
    return ""


def _name_block_field(name: str) -> str:
    if name in BLOCK_FIELDS:
        return str(BLOCK_FIELDS[name])
    return str(HOLDER if name.startswith("holder_") else BUYER if name.startswith("buyer_") else name)


def _describe_money(data: Mapping[str, Any]) -> str:
    """The number of the document, the amount, the text of a transfer, and the reason."""
    amount_minor = data.get("amountMinor", data.get("totalMinor"))
    amount = format_money(amount_minor)
    if "amountMinor" in data and amount_minor < 0:
        amount = gettext("paid back: %(amount)s", amount=format_money(-amount_minor))
    return " · ".join(filter(None, (data.get("number"), amount, data.get("reference"), data.get("reason"))))


def _describe_field(name: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    label = str(FIELD_LABELS.get(name, name))
    if name not in before and name not in after:
        return label
    if not before or not after:
        return f"{label} {_format_value(name, {**before, **after}[name])}"
    old, new = (_format_value(name, values[name]) if name in values else "–" for values in (before, after))
    return f"{label} {old} → {new}"


def _format_value(name: str, value: Any) -> str:
    if name == "phases":
        return ", ".join(_describe_phase(phase) for phase in value)
    if name.endswith("Minor"):
        return format_money(value)
    if name in TIMES:
        return format_short_time(datetime.fromisoformat(value))
    if isinstance(value, bool):
        return gettext("Yes") if value else gettext("No")
    if name in ("latitude", "longitude"):
        return str(value)
    if isinstance(value, int):
        return format_number(value)
    if name == "country":
        return format_country(value)
    labels: Mapping[str, str] = {"category": CATEGORY_LABELS, "reentry": REENTRY_WORDS}.get(name, {})
    return str(labels.get(value, value))


def _describe_phase(phase: Mapping[str, Any]) -> str:
    parts = [f"{phase['name']} {format_money(phase['priceMinor'])}"]
    if "quantity" in phase:
        parts.append(gettext("%(number)s tickets", number=format_number(phase["quantity"])))
    if "startsAt" in phase:
        parts.append(gettext("from %(time)s", time=_format_value("startsAt", phase["startsAt"])))
    if "endsAt" in phase:
        parts.append(gettext("until %(time)s", time=_format_value("endsAt", phase["endsAt"])))
    return " ".join(parts)
