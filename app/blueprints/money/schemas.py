"""Schemas of the money of events and organisations."""

from marshmallow import fields

from app.invoicing.documents import CREDIT_NOTE, INVOICE
from app.money.documents import BLOCK, DOCUMENT_STATES, FEE, OWED_BACK
from app.web.fields import Boolean, Choice, Id, List, Nested, TimeField, WholeNumber
from app.web.schema import Query, Schema

CURRENCY = {"enum": ["NAD"], "example": "NAD"}


def _amount(description: str, example: int = 850000) -> WholeNumber:
    return WholeNumber(required=True, metadata={"example": example, "description": description})


class TicketTakingsRow(Schema):
    """The tickets of a type that were sold elsewhere, as the imports say; they are not booked in the ledger."""

    ticket_type_id = fields.String(required=True)
    ticket_type = fields.String(required=True, metadata={"example": "Weekend pass"})
    sold = _amount("tickets", 120)
    sold_minor = _amount("their prices in NAD cents")
    refunded = _amount("tickets that were sold and refunded elsewhere", 0)
    refunded_minor = _amount("their prices in NAD cents", 0)


class BlockInvoicesData(Schema):
    """The invoices of the event's blocks in NAD cents."""

    invoices = _amount("how many were issued", 3)
    issued_minor = _amount("by invoices")
    credited_minor = _amount("by credit notes", 0)
    paid_minor = _amount("recorded as received by transfer", 0)
    open_minor = _amount("still to be paid")
    owed_back_minor = _amount("to be paid back, after credit notes for paid invoices", 0)
    uninvoiced_blocks = _amount("how many blocks have a price and no invoice yet", 1)
    uninvoiced_minor = _amount("what their places cost now; in none of the other figures", 425000)


class StallFeeSums(Schema):
    """The stall fees of the event in NAD cents: `dueMinor` is the sum of the others."""

    due_minor = _amount("by approved applications", 1000000)
    paid_minor = _amount("by the rail, and kept", 250000)
    received_minor = _amount("by transfer, and kept", 250000)
    waived_minor = _amount("not charged", 250000)
    refunded_minor = _amount("sent back", 0)
    open_minor = _amount("still to be paid", 250000)


class ReconciledFigureRow(Schema):
    """A booked figure beside the ledger's; a refund is below zero."""

    figure = fields.String(
        required=True, metadata={"example": "stall_fee", "description": "the kind of the ledger's transactions"}
    )
    booked_minor = _amount("by the records of fees, refunds and payments")
    ledger_minor = _amount("by the entries of the ledger")
    difference_minor = _amount("0 if the books are right", 0)


class EventMoneyData(Schema):
    """The money of an event."""

    event_id = fields.String(required=True)
    currency = fields.String(required=True, metadata=CURRENCY)
    tickets = List(Nested(TicketTakingsRow), required=True, metadata={"description": "by type, sold elsewhere"})
    block_invoices = Nested(
        BlockInvoicesData, required=True, metadata={"description": "the invoices of the event's blocks"}
    )
    stall_fees = Nested(StallFeeSums, required=True, metadata={"description": "the sums of the event's stall fees"})
    reconciliation = List(
        Nested(ReconciledFigureRow), required=True, metadata={"description": "each booked figure beside the ledger's"}
    )
    reconciled = Boolean(required=True, metadata={"description": "whether every difference is 0", "example": True})


class DocumentFilters(Query):
    """Filters of the documents of an event."""

    state = Choice(
        *DOCUMENT_STATES,
        metadata={
            "example": OWED_BACK,
            "description": "of invoices of blocks: not paid, not paid in time, or paid with more than they charge now",
        },
    )


class MoneyDocumentRow(Schema):
    """An invoice or credit note of an event. Its PDF is below its id."""

    id = fields.String(required=True)
    number = fields.String(required=True, metadata={"example": "INV-2026-00001"})
    kind = fields.String(required=True, metadata={"enum": [INVOICE, CREDIT_NOTE], "example": INVOICE})
    source = fields.String(
        required=True, metadata={"enum": [BLOCK, FEE], "example": BLOCK, "description": "what it charges for"}
    )
    source_id = fields.String(required=True, metadata={"description": "id of the block or of the application"})
    buyer = fields.String(
        required=True, allow_none=True, metadata={"example": "Bank of Namibia", "description": "to whom it is"}
    )
    issued_at = TimeField(required=True)
    total_minor = _amount("the total in NAD cents; below zero for a credit note")
    open_minor = _amount("what is still to be paid of it in NAD cents", 0)
    owed_back_minor = _amount("what the organiser owes back after credit notes, in NAD cents", 0)


class RequestedFileData(Schema):
    """A file that a worker makes."""

    file_id = fields.String(required=True, metadata={"description": "its id in the files of the organisation"})


class MoneyOfEventRow(Schema):
    """An event, and its money."""

    id = fields.String(required=True)
    name = fields.String(required=True, metadata={"example": "Windhoek Lights"})
    starts_at = TimeField(required=True)
    money = Nested(EventMoneyData, required=True, metadata={"description": "its money, as at the event"})


class OrganisationMoneyData(Schema):
    """The money of all events."""

    events = List(Nested(MoneyOfEventRow), required=True, metadata={"description": "the newest first"})


class Period(Schema):
    """The days to export, in Windhoek, and optionally one event."""

    since = fields.Date(
        data_key="from",
        load_default=None,
        metadata={"example": "2026-01-01", "description": "by default the first day of the year"},
    )
    until = fields.Date(
        data_key="to", load_default=None, metadata={"example": "2026-12-31", "description": "by default today"}
    )
    event_id = Id(load_default=None, metadata={"description": "only what belongs to this event"})


class PeriodQuery(Query, Period):
    """The days to export, in Windhoek, and optionally one event."""


class ArchiveBody(Period):
    """The days whose documents are wanted, in Windhoek, and optionally one event."""


class VatLineRow(Schema):
    """The documents of a kind and a rate, in NAD cents; the amounts of credit notes are below zero."""

    vat_percent = fields.Float(required=True, metadata={"example": 15.0})
    kind = fields.String(required=True, metadata={"enum": ["invoice", "credit_note"], "example": "invoice"})
    documents = _amount("how many", 3)
    net_minor = _amount("without VAT", 739130)
    vat_minor = _amount("the VAT", 110870)
    gross_minor = _amount("with VAT")


class VatSummaryData(Schema):
    """The VAT of the tax invoices and tax credit notes of a period."""

    since = fields.Date(required=True, data_key="from", metadata={"example": "2026-01-01"})
    until = fields.Date(required=True, data_key="to", metadata={"example": "2026-12-31"})
    currency = fields.String(required=True, metadata=CURRENCY)
    vat_number = fields.String(
        required=True,
        allow_none=True,
        metadata={"example": "1234567-01-5", "description": "null without a registration for VAT"},
    )
    lines = List(Nested(VatLineRow), required=True, metadata={"description": "by rate, credit notes apart"})
    vat_minor = _amount("the VAT of all, credit notes taken off", 110870)
