"""The verdict on a scan in words, for phones without script. The texts are those of templates/pages/gate_texts.html."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, NamedTuple

from app.core.errors import AppError
from app.core.formatting import format_time
from app.core.languages import gettext
from app.gate.scan import Scan

Data = Mapping[str, Any]


class Verdict(NamedTuple):
    """What the page shows: `result` is yes, no or look. `admission_id` is what can be undone."""

    result: str
    word: str
    name: str = ""
    type: str = ""
    reason: str = ""
    where: str = ""
    admission_id: str = ""


def build_verdict(scan: Scan) -> Verdict:
    """Return the verdict on a scan that the service took."""
    people = gettext("{count} people").format(count=scan.admitted) if scan.admitted > 1 else ""
    left = gettext("Of this party still outside: {count}").format(count=scan.remaining) if scan.remaining else ""
    return Verdict(
        "yes",
        gettext("Come in") if scan.direction == "in" else gettext("Out"),
        scan.name or "",
        " · ".join(filter(None, (scan.ticket_type, people))),
        gettext("Came back") if scan.is_reentry else left,
        admission_id=scan.id or "",
    )


def build_refusal(error: AppError, zone: str) -> Verdict | None:
    """Return the verdict on a scan that the service refused, with times of the event's time zone.

    None if the error says nothing about a ticket.
    """
    if error.code not in _REASONS:
        return None
    data = {
        name: format_time(value, zone) if isinstance(value, datetime) else value for name, value in error.data.items()
    }
    is_doubt = error.code in ("NOT_CLAIMED", "PARTY_TOO_SMALL", "NOT_INSIDE") or bool(data.get("remaining"))
    at = data.get("admittedAt") or data.get("revokedAt")
    return Verdict(
        "look" if is_doubt else "no",
        gettext("Check") if is_doubt else gettext("No entry"),
        data.get("name") or "",
        data.get("ticketType") or "",
        _REASONS[error.code](data),
        " · ".join(filter(None, dict.fromkeys((at, data.get("gate"), data.get("by"))))),
    )


def _describe_days(data: Data) -> str:
    start, end = data.get("validFrom"), data.get("validUntil")
    if start and end:
        return gettext("Valid from {from} to {until}").format(**{"from": start, "until": end})
    if start:
        return gettext("Valid from {from}").format(**{"from": start})
    return gettext("Valid until {until}").format(until=end)


_REASONS: dict[str, Callable[[Data], str]] = {
    "ALREADY_ADMITTED": lambda _: gettext("Already in"),
    "SLOT_REVOKED": lambda _: gettext("This ticket was taken back."),
    "TICKET_CANCELLED": lambda data: (
        gettext("This ticket was refunded.") if data["status"] == "refunded" else gettext("This ticket was cancelled.")
    ),
    "NOT_CLAIMED": lambda _: gettext("Not claimed yet: the guest opens the link in their mail."),
    "WRONG_EVENT": lambda data: gettext("For another event: {event}").format(event=data["eventName"]),
    "WRONG_DAY": _describe_days,
    "TICKET_NOT_FOUND": lambda _: gettext("Not a ticket of this event"),
    "NO_REENTRY": lambda _: gettext("This event does not count who goes out."),
    "NOT_INSIDE": lambda _: gettext("Is not inside."),
    "PARTY_TOO_SMALL": lambda data: gettext("Of this party still outside: {count}").format(count=data["remaining"]),
}
