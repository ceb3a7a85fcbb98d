"""Uploaded files of sold tickets: what is in them, and how far their check or import is."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from sqlalchemy import ColumnElement, delete, func, or_, select

from app.accounts.caller import Caller
from app.core.column_samples import match_columns
from app.core.db import ReadOrWriteSession, db
from app.core.errors import NotFound
from app.core.spreadsheet import NotASheet, column_key
from app.events.queries import get_event
from app.events.ticket_layouts import FIELDS, LAYOUTS, find_layout
from app.events.ticket_upload_models import TicketUpload

OwnUpload = TicketUpload
"""An upload of the caller, as `get_upload` returns it."""
RETENTION, TIMEOUT = timedelta(days=2), timedelta(minutes=15)
MAX_KEPT = 5
IS_OVERDUE = TicketUpload.asked_at < func.now() - TIMEOUT
CAN_START: ColumnElement[bool] = TicketUpload.import_id.is_(None) & or_(TicketUpload.asked_at.is_(None), IS_OVERDUE)
"""No job works on it, and it was not imported. A job that has no result after the timeout has died."""


def get_upload(caller: Caller, event_id: str, upload_id: str) -> tuple[TicketUpload, bool]:
    """An upload of the caller to an event, and whether a job works on it. Raises NotFound, also two days later."""
    event = get_event(caller, event_id)
    is_working = TicketUpload.asked_at.is_not(None) & ~func.coalesce(IS_OVERDUE, False)
    row = db.session.execute(
        select(TicketUpload, is_working).where(
            TicketUpload.id == upload_id,
            TicketUpload.event_id == event.id,
            TicketUpload.account_id == caller.id,
            TicketUpload.created_at > func.now() - RETENTION,
        )
    ).first()
    if row is None:
        raise NotFound()
    return row[0], row[1]


def find_format(header: Sequence[str]) -> str | None:
    """The format whose columns the header has; None for a file that needs a mapping."""
    try:
        return find_layout(list(header)).format
    except NotASheet:
        return None


OTHER_NAMES = {
    "reference": ("ticket no", "ticket number", "ticket id", "ticket ref", "ticket reference", "order no", "order number",
                  "order ref", "order reference", "booking no", "booking ref", "booking reference", "Buchungsnr",
                  "Buchungsnummer",
                  "Bestellnummer", "Bestellnr", "Ticketnummer", "Ticketnr", "Auftragsnummer", "kaartjienommer",
                  "bestelnommer", "besprekingsnommer"),
    "ticketType": ("kind", "type", "category", "ticket", "item", "Ticketart", "Kategorie", "Tickettyp", "Art", "Produkt",
                   "kaartjiesoort", "soort", "kategorie"),
    "name": ("guest", "attendee", "full name", "customer", "buyer", "purchaser", "ticket holder", "Gast", "Teilnehmer",
             "Vorname und Nachname", "Kunde", "Käufer", "naam", "gas", "koper"),
    "lastName": ("last name", "surname", "family name", "Nachname", "Familienname", "Zuname", "van", "familienaam"),
    "email": ("e-mail address", "purchaser e-mail", "buyer e-mail", "customer e-mail", "mail", "E-Mail",
              "E-Mail-Adresse", "Mailadresse", "e-pos", "e-posadres"),
    "price": ("amount", "total", "price paid", "paid", "paid N$", "price N$", "paid NAD", "Preis", "Preis brutto",
              "Betrag", "Bruttopreis", "prys", "bedrag"),
    "currency": ("Währung", "geldeenheid"),
    "soldAt": ("date", "when", "sold on", "paid on", "ordered on", "purchased at", "purchase date", "Gekauft am", "Kaufdatum",
               "Bestelldatum", "Datum",
               "gekoop op", "verkoop op"),
    "status": ("state", "payment status", "Zahlungsstatus", "Zustand", "toestand"),
    "orderNumber": ("order", "order no", "order code", "order id", "order ref", "order reference", "booking no",
                    "booking number", "booking ref", "booking reference", "Bestellnummer", "Bestellnr", "Buchungsnr",
                    "Buchungsnummer", "Auftragsnummer", "bestelnommer", "besprekingsnommer"),
    "secret": ("code", "QR code", "barcode content", "Barcode-Inhalt", "Strichcode", "QR-Code", "strepieskode", "kode"),
    "validFrom": ("Gültig ab", "geldig vanaf"),
    "validUntil": ("Gültig bis", "geldig tot"),
}  # fmt: skip
"""What other sellers call the fields, in English, German and Afrikaans."""
FIRST_NAMES = tuple(map(column_key, ("first name", "given name", "forename", "Vorname", "voornaam")))
PARTS_OF_NAMES = {*FIRST_NAMES, "name", "naam"}
"""Columns that a column of last names completes. `Name` beside `Vorname` is the last name itself."""


def suggest_mapping(columns: Sequence[str]) -> dict[str, str]:
    """The column of each field whose name one of the formats or another seller has. A column is one field.

    A column of orders is the number of the ticket only if no other is. The column of last names is one beside a column of
    first names or alone: whole names need none.
    """
    names = {
        field: [
            *(key for layout in LAYOUTS for key in layout.columns[attribute]),
            *map(column_key, OTHER_NAMES.get(field, ())),
        ]
        for field, attribute in FIELDS.items()
    }
    names["reference"].sort(key=set(names["orderNumber"]).__contains__)
    if "vorname" in map(column_key, columns):
        names["lastName"].append("name")
    has_last_names = match_columns(columns, {"lastName": names["lastName"]})
    names["name"] = [*FIRST_NAMES, *names["name"]] if has_last_names else [*names["name"], *FIRST_NAMES]
    mapping: dict[str, str] = {}
    for field, column in match_columns(columns, names).items():
        if column not in mapping.values():
            mapping[field] = column
    if "name" in mapping and column_key(mapping["name"]) not in PARTS_OF_NAMES:
        mapping.pop("lastName", None)
    return mapping


def suggest_for_sample(sample: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """What `suggest_mapping` says, but a column with the same value in several rows is no number of a ticket: it is taken
    for that of the order. Then another column is the number, or the code that is scanned, if there is one."""
    mapping = suggest_mapping([column["name"] for column in sample])
    repeated = {column["name"] for column in sample if column.get("repeats")}
    if mapping.get("reference") in repeated:
        mapping.setdefault("orderNumber", mapping.pop("reference"))
        others = [column["name"] for column in sample if column["name"] not in {*repeated, *mapping.values()}]
        if other := suggest_mapping(others).get("reference"):
            mapping["reference"] = other
        elif "secret" in mapping and mapping["secret"] not in repeated:
            mapping["reference"] = mapping["secret"]
    return mapping


def complete_mapping(known: Mapping[str, str], sample: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """The known columns, and for the other ones and the fields that have none what `suggest_for_sample` says."""
    others = [column for column in sample if column["name"] not in known.values()]
    return {**suggest_for_sample(others), **known}


def delete_old_uploads(session: ReadOrWriteSession) -> None:
    """Delete the uploads older than two days."""
    session.execute(delete(TicketUpload).where(TicketUpload.created_at < func.now() - RETENTION))


def delete_surplus_uploads(session: ReadOrWriteSession, event_id: str, account_id: str) -> None:
    """Keep the latest five uploads of a person to an event, with one that follows."""
    own = (TicketUpload.event_id == event_id) & (TicketUpload.account_id == account_id)
    kept_ids = select(TicketUpload.id).where(own).order_by(TicketUpload.created_at.desc()).limit(MAX_KEPT - 1)
    session.execute(
        delete(TicketUpload).where(own, CAN_START | TicketUpload.import_id.is_not(None), ~TicketUpload.id.in_(kept_ids))
    )
