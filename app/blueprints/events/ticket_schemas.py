"""Schemas of imported tickets."""

from marshmallow import fields

from app.events.ticket_imports import STATES, UNDO_ERRORS
from app.events.ticket_layouts import FIELDS, FORMATS, REQUIRED_FIELDS, WORD_MEANINGS
from app.events.tickets import STATUSES
from app.web.fields import Boolean, Choice, File, Id, List, Nested, Text, TimeField, WholeNumber
from app.web.mapping_fields import ColumnMapping, TextMapping
from app.web.row_errors import RowErrorData
from app.web.schema import Multipart, Query, Schema


class TicketImportBody(Multipart):
    file = File(required=True, metadata={"description": "CSV or XLSX, 20,000 rows and 20 MiB at most"})
    mapping = ColumnMapping(
        FIELDS,
        required_names=REQUIRED_FIELDS,
        metadata={
            "type": "string",
            "description": f"JSON: the column of each field; the fields are {', '.join(FIELDS)}",
            "example": '{"reference": "Ticket No", "ticketType": "Kind", "secret": "Barcode"}',
        },
    )
    format = Choice(*FORMATS, metadata={"description": "the layout of the file; its columns decide if left out"})
    ticket_types = TextMapping(
        metadata={
            "type": "string",
            "description": "JSON: the id of the ticket type for names in the file that the event does not have",
            "example": '{"Early Bird": "6740f1c2a1b2c3d4e5f60718"}',
        }
    )
    status_words = TextMapping(
        texts=WORD_MEANINGS,
        metadata={
            "type": "string",
            "description": "JSON: what words in the column of the status mean, before what the service knows: "
            f"{', '.join(WORD_MEANINGS)}; rows of the last are left out",
            "example": '{"Sponsor": "sold", "Test": "omitted"}',
        },
    )
    mode = Choice(
        "atomic",
        "partial",
        load_default="atomic",
        metadata={
            "description": "partial writes the rows without errors. Rows with the reference of a wrong row, or with the "
            "same secret, are left out too. More tickets than places are an error of the whole file."
        },
    )
    dry_run = Boolean(load_default=False, metadata={"description": "check everything, write nothing"})
    create_types = Boolean(load_default=False, metadata={"description": "create ticket types that the event lacks"})
    allow_oversell = Boolean(load_default=False, metadata={"description": "book more than the total or the capacity"})
    raise_totals = Boolean(
        load_default=False,
        metadata={"description": "give a ticket type with too few places as many as are sold, within the capacity"},
    )


class UnknownType(Schema):
    """A name in the file that is no ticket type of the event."""

    name = fields.String(required=True, metadata={"example": "Early Bird"})
    rows = WholeNumber(required=True, metadata={"description": "how many rows have it", "example": 12})


class UnknownStatus(Schema):
    """A word in the column of the status that is not known."""

    word = fields.String(required=True, metadata={"description": "as the file has it", "example": "Sponsor"})
    rows = WholeNumber(required=True, metadata={"description": "how many rows have it", "example": 3})


class UnpricedType(Schema):
    """A ticket type whose price counts for created tickets that have none in the file."""

    ticket_type = fields.String(
        required=True, metadata={"description": "name of the ticket type", "example": "Weekend pass"}
    )
    price_minor = WholeNumber(required=True, metadata={"example": 35000})
    tickets = WholeNumber(required=True, metadata={"description": "how many created tickets get it", "example": 12})


class CancelledTicket(Schema):
    """A ticket that is not sold any more; a field is null if the caller may not see it, or the ticket has none."""

    reference = fields.String(required=True, allow_none=True, metadata={"example": "A-1042"})
    name = fields.String(required=True, allow_none=True, metadata={"example": "Frieda Amupolo"})
    admitted = Boolean(required=True, metadata={"description": "whether its guest has entered"})


class FirstTicket(Schema):
    """A sold ticket as it will be imported; a field is null if the caller may not see it, or the file has none."""

    reference = fields.String(required=True, allow_none=True, metadata={"example": "A-1042"})
    order_number = fields.String(
        required=True, allow_none=True, metadata={"description": "number of the order", "example": "K7TNE"}
    )
    secret = fields.String(
        required=True, allow_none=True, metadata={"description": "the code that is scanned", "example": "3kq9zc8w"}
    )
    ticket_type = fields.String(
        required=True, metadata={"description": "the ticket type that it gets", "example": "Weekend pass"}
    )
    name = fields.String(required=True, allow_none=True, metadata={"example": "Frieda Amupolo"})
    email = fields.String(required=True, allow_none=True, metadata={"example": "frieda@example.com"})
    price_minor = WholeNumber(required=True, allow_none=True, metadata={"example": 85000})
    sold_at = fields.String(
        required=True,
        allow_none=True,
        metadata={"format": "date-time", "description": "when it was sold", "example": "2026-10-01T00:00:00.000Z"},
    )


class TicketImportData(Schema):
    """What an import did."""

    import_id = fields.String(
        required=True, allow_none=True, metadata={"description": "id among the imports; null for a dry run"}
    )
    format = fields.String(
        required=True,
        metadata={"description": "pretix, eventbrite, own or mapping: the layout of the file", "example": "pretix"},
    )
    created = WholeNumber(required=True)
    updated = WholeNumber(required=True)
    unchanged = WholeNumber(required=True)
    skipped = WholeNumber(
        required=True, metadata={"description": "rows that are not sold and not known", "example": 114}
    )
    cancelled = WholeNumber(
        required=True,
        metadata={"description": "tickets among the updated ones that are not sold any more", "example": 4},
    )
    missing = WholeNumber(
        required=True,
        metadata={
            "description": "sold tickets of the event that are not in the file, or in a wrong row; they stay",
            "example": 2,
        },
    )
    new_types = WholeNumber(required=True, metadata={"description": "number of new ticket types", "example": 1})
    new_type_names = List(
        fields.String(metadata={"example": "Early Bird"}), required=True, metadata={"description": "their names"}
    )
    new_type_totals = List(
        WholeNumber(metadata={"example": 120}),
        required=True,
        metadata={
            "description": "how many tickets each of `newTypeNames` has: as many as the file; change it afterwards"
        },
    )
    created_minor = WholeNumber(
        required=True, metadata={"description": "what the created tickets cost together, in cents", "example": 8500000}
    )
    undated = WholeNumber(
        required=True,
        metadata={
            "description": "created tickets without a day of sale in the file: they count as sold on the day of the import",
            "example": 0,
        },
    )
    unpriced = List(
        Nested(UnpricedType),
        required=True,
        metadata={"description": "the ticket types whose price counts for created tickets without a price in the file"},
    )
    assumed_sold = WholeNumber(
        required=True,
        metadata={"description": "tickets without a status in the file: they count as sold", "example": 0},
    )
    cancelled_tickets = List(
        Nested(CancelledTicket), required=True, metadata={"description": "the first fifty of the cancelled tickets"}
    )
    cancelled_admitted = WholeNumber(
        required=True, metadata={"description": "of how many cancelled tickets the guest has entered", "example": 1}
    )
    first_tickets = List(
        Nested(FirstTicket),
        required=True,
        metadata={"description": "of a dry run: the first three sold tickets of the file, as they will be imported"},
    )
    wrong_rows = WholeNumber(
        required=True,
        metadata={"description": "of mode partial: rows with errors that are left out; 0 if nothing can be imported"},
    )
    unknown_types = List(
        Nested(UnknownType),
        required=True,
        metadata={"description": "of a dry run or mode partial: what ticketTypes may map"},
    )
    unknown_statuses = List(
        Nested(UnknownStatus),
        required=True,
        metadata={
            "description": "of a dry run or mode partial: what statusWords may explain, the twenty most frequent"
        },
    )
    omitted = WholeNumber(required=True, metadata={"description": "rows that statusWords leaves out", "example": 0})
    warnings = List(
        fields.String(metadata={"example": "41 sold and 60 allocated are 1 more than the capacity of 100."}),
        required=True,
        metadata={"description": "what is unusual and was booked"},
    )
    errors = List(
        Nested(RowErrorData),
        required=True,
        metadata={"description": "of a dry run or mode partial: the first thousand"},
    )
    error_count = WholeNumber(required=True)


class TicketImportRow(Schema):
    """An import of tickets."""

    id = fields.String(required=True)
    number = WholeNumber(required=True, metadata={"description": "its order within the event", "example": 3})
    file_name = fields.String(required=True, allow_none=True, metadata={"example": "orders.csv"})
    format = fields.String(
        required=True, metadata={"description": "pretix, eventbrite, own or mapping", "example": "pretix"}
    )
    digest = fields.String(required=True, metadata={"description": "SHA-256 of the file in hex", "example": "9f86d0…"})
    imported_at = TimeField(required=True, metadata={"description": "when it was imported"})
    imported_by = fields.String(
        required=True,
        allow_none=True,
        metadata={"description": "name of who imported it; null for a command", "example": "Nangula Shikongo"},
    )
    state = fields.String(required=True, metadata={"enum": list(STATES), "example": "done"})
    created = WholeNumber(required=True)
    updated = WholeNumber(required=True)
    unchanged = WholeNumber(required=True)
    cancelled = WholeNumber(
        required=True,
        metadata={"description": "tickets among the updated ones that are not sold any more", "example": 4},
    )
    skipped = WholeNumber(
        required=True, metadata={"description": "rows that are not sold and not known", "example": 114}
    )
    new_types = WholeNumber(required=True, metadata={"description": "number of new ticket types", "example": 1})
    undone_at = TimeField(required=True, allow_none=True)
    undone_by = fields.String(required=True, allow_none=True, metadata={"example": "Nangula Shikongo"})
    undo_blocked_by = fields.String(
        required=True,
        allow_none=True,
        metadata={
            "enum": [*(error.code for error in UNDO_ERRORS), None],
            "description": "the error with which an undo would be refused now; null if nothing prevents it",
            "example": "LATER_IMPORT",
        },
    )


class TicketFilters(Query):
    """Filters of imported tickets."""

    q = Text(
        min=1,
        max=200,
        metadata={
            "example": "zoë",
            "description": "part of the name, beginning of the reference, the order number or the email address, or the "
            "whole secret",
        },
    )
    status = Choice(*STATUSES)
    ticket_type_id = Id()
    import_id = Id(metadata={"description": "tickets that this import created or changed"})
    admitted = Boolean(metadata={"description": "admitted before, or not"})


class TicketRow(Schema):
    """An imported ticket."""

    id = fields.String(required=True)
    reference = fields.String(
        required=True, metadata={"description": "the seller's number of the ticket", "example": "K9DCE-2"}
    )
    ticket_type_id = fields.String(required=True)
    ticket_type = fields.String(
        required=True, metadata={"description": "name of the ticket type", "example": "Weekend pass"}
    )
    name = fields.String(required=True, allow_none=True)
    email = fields.String(required=True, allow_none=True)
    price_minor = WholeNumber(required=True, allow_none=True)
    sold_at = TimeField(required=True, metadata={"description": "when it was sold, or else imported"})
    known_sold_at = TimeField(
        required=True,
        allow_none=True,
        metadata={"description": "when it was sold; null if no file said so, and `soldAt` is the time of its import"},
    )
    status = fields.String(required=True, metadata={"example": "sold"})
    order_number = fields.String(
        required=True,
        allow_none=True,
        metadata={
            "description": "the seller's number of the order; null if it is the secret and that is hidden",
            "example": "K9DCE",
        },
    )
    secret = fields.String(
        required=True,
        allow_none=True,
        metadata={
            "description": "what its QR code says; null without gate.admit and guests.write",
            "example": "s6ecmvmmpdgsxf3rsbybby2qackzhqja",
        },
    )
    valid_from = TimeField(required=True, allow_none=True, metadata={"description": "admitted from this time"})
    valid_until = TimeField(required=True, allow_none=True, metadata={"description": "admitted until this time"})
    admitted_at = TimeField(required=True, allow_none=True)
