"""The settlement report of an event as PDF."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Row

from app.accounts.organisation_details import OrganisationDetails
from app.admissions.stats import AdmittedType
from app.applications.fee_books import FeeBooks
from app.core.formatting import format_clock, format_count, format_day, format_money, format_period, format_time
from app.core.languages import SOURCE_LANGUAGE, mark_for_translation, use_language
from app.core.pdf import Sheet
from app.core.pdf_rows import Column, LongTable
from app.events.visibility import CANCELLED
from app.invoicing.documents import format_vat_number
from app.ledger.models import BLOCK_INVOICE, STALL_FEE, STALL_FEE_REFUND
from app.money.event_money import EventMoney
from app.money.vat import VatSummary
from app.money.vat_exports import add_vat_lines

FIGURE_LABELS = {
    STALL_FEE: mark_for_translation("Stall fees that came in"),
    STALL_FEE_REFUND: mark_for_translation("Stall fees sent back"),
    BLOCK_INVOICE: mark_for_translation("Invoices of blocks that were paid"),
}
"""The words of the figures that are compared with the ledger."""
FEE_LABELS = {
    "open": "Open",
    "paid": "By wallet",
    "received": "By transfer",
    "waived": "Waived",
    "refunded": "Refunded",
}
RECONCILED = "The books agree with the ledger to the cent."
NOT_RECONCILED = (
    "The books do not agree with the ledger. Do not settle from this report before the difference is explained."
)
EVENT_CANCELLED = "The event is cancelled. The figures of this report change as money goes back."
NOT_OVER = "The event is not over yet. The figures of this report will change: make it again afterwards."
PAYOUT_NOTE = "Payouts: earnings and payouts of merchants are booked to the merchant and not to an event, so this report has none."
DOCUMENT_COLUMNS = (
    Column("Number", 20),
    Column("Issued", 23),
    Column("To", 24),
    Column("Amount", 16, figures=True),
    Column("Open", 16, figures=True),
)
FEE_COLUMNS = (
    Column("Business", 25),
    Column("Stall type", 15),
    Column("State", 14),
    Column("Due", 16, figures=True),
    Column("Kept", 16, figures=True),
    Column("Refunded", 16, figures=True),
    Column("Open", 16, figures=True),
)


@dataclass(frozen=True)
class Settlement:
    """What the report says: everything of the moment `made_at`, amounts in cents."""

    event: Row[Any]
    organisation: OrganisationDetails
    made_at: datetime
    made_by: str
    money: EventMoney
    fees: Sequence[Row[Any]]
    admissions: Sequence[AdmittedType]
    documents: Sequence[Row[Any]]
    vat: VatSummary


def draw_settlement(settlement: Settlement) -> bytes:
    """Return the PDF, in English."""
    with use_language(SOURCE_LANGUAGE):
        return _draw(settlement)


def _draw(settlement: Settlement) -> bytes:
    event, organisation, money = settlement.event, settlement.organisation, settlement.money
    made_on = format_day(settlement.made_at, event.timezone)
    with Sheet(
        title="Settlement report",
        number=event.name,
        when=f"{made_on}, {format_clock(settlement.made_at, event.timezone)}",
        author=organisation.name,
        foot=f"{made_on} · {organisation.name}",
    ) as sheet:
        sheet.facts(_list_facts(settlement))
        sheet.figures(
            [
                ("Received, less refunds", format_money(money.received_minor)),
                ("Still open", format_money(money.open_minor)),
                ("Tickets sold in your shop", format_money(money.sold_minor)),
                ("Received and sold in all", format_money(money.kept_minor)),
            ]
        )
        if event.visibility == CANCELLED:
            sheet.heading(EVENT_CANCELLED)
        elif event.ends_at > settlement.made_at:
            sheet.heading(NOT_OVER)
        if money.reconciled:
            sheet.note(RECONCILED)
        else:
            sheet.heading(NOT_RECONCILED)
        _add_tickets(sheet, money)
        _add_admissions(sheet, settlement.admissions)
        _add_sums(sheet, money)
        add_vat_lines(
            sheet,
            settlement.vat,
            title="VAT",
            under="Of the tax invoices and tax credit notes issued for this event.",
        )
        _add_reconciliation(sheet, money)
        sheet.note(PAYOUT_NOTE)
        _add_rows(sheet, settlement)
    return sheet.data


def _list_facts(settlement: Settlement) -> Iterable[tuple[str, str]]:
    event, organisation = settlement.event, settlement.organisation
    yield "Event", event.name
    yield "When", format_period(event.starts_at, event.ends_at, event.timezone)
    yield "Where", f"{event.venue}, {event.city}"
    yield (
        "Organiser",
        "\n".join(
            part
            for part in (organisation.name, organisation.address, format_vat_number(organisation.vat_number))
            if part
        ),
    )
    by = f" by {settlement.made_by}" if settlement.made_by else ""
    yield "Made", f"{format_time(settlement.made_at, event.timezone)}{by}"


def _add_tickets(sheet: Sheet, money: EventMoney) -> None:
    rows = [
        (
            row.ticket_type,
            str(row.sold),
            format_money(row.sold_minor),
            str(row.refunded),
            format_money(row.refunded_minor),
        )
        for row in money.tickets
    ]
    sold, refunded = (sum(getattr(row, name) for row in money.tickets) for name in ("sold", "refunded"))
    refunded_minor = sum(row.refunded_minor for row in money.tickets)
    rows.append(("All", str(sold), format_money(money.sold_minor), str(refunded), format_money(refunded_minor)))
    sheet.table(
        ("Type", "Sold", "Takings", "Refunded", "Paid back"),
        rows,
        widths=(34, 12, 22, 12, 20),
        figures=4,
        title="Tickets sold in your shop",
        under="As imported. They are not booked in the ledger.",
    )


def _add_admissions(sheet: Sheet, types: Sequence[AdmittedType]) -> None:
    rows = [(row.name, *map(str, (row.sold, row.expected, row.admitted))) for row in types]
    rows.append(("All", *(str(sum(getattr(row, name) for row in types)) for name in ("sold", "expected", "admitted"))))
    sheet.table(
        ("Type", "Sold", "Expected", "Admitted"),
        rows,
        widths=(46, 18, 18, 18),
        figures=3,
        title="Admitted at the gate",
        under="People by ticket type, each counted once.",
    )


def _add_sums(sheet: Sheet, money: EventMoney) -> None:
    fees, blocks = money.stall_fees, money.block_invoices
    groups = {
        "Stall fees": (
            ("Due", fees.due_minor),
            ("Paid by wallet, and kept", fees.paid_minor),
            ("Received by transfer, and kept", fees.received_minor),
            ("Waived", fees.waived_minor),
            ("Refunded", fees.refunded_minor),
            ("Open", fees.open_minor),
        ),
        f"Invoices of blocks ({format_count(blocks.invoices, 'invoice')})": (
            ("Issued", blocks.issued_minor),
            ("Credited", blocks.credited_minor),
            ("Paid", blocks.paid_minor),
            ("To be paid back, after credit notes", blocks.owed_back_minor),
            ("Open", blocks.open_minor),
            ("Blocks that are not invoiced yet", blocks.uninvoiced_minor),
        ),
        "Still open": (
            ("Stall fees to come in", fees.open_minor),
            ("Invoices of blocks to come in", blocks.open_minor),
            ("To be paid back to holders of blocks", -blocks.owed_back_minor),
            ("Together", money.open_minor - blocks.owed_back_minor),
        ),
    }
    for title, rows in groups.items():
        sheet.lines(((label, format_money(amount)) for label, amount in rows), title=title)


def _add_reconciliation(sheet: Sheet, money: EventMoney) -> None:
    verdict = RECONCILED if money.reconciled else NOT_RECONCILED
    rows = [
        (
            FIGURE_LABELS.get(figure.figure, figure.figure),
            *map(format_money, (figure.booked_minor, figure.ledger_minor, figure.difference_minor)),
        )
        for figure in money.reconciliation
    ]
    sheet.table(
        ("Figure", "Booked", "Ledger", "Difference"),
        rows,
        widths=(40, 20, 20, 20),
        figures=3,
        title="Reconciliation with the ledger",
        under=verdict,
    )


def _add_rows(sheet: Sheet, settlement: Settlement) -> None:
    """Add every stall fee, invoice and credit note."""
    if settlement.fees:
        fees = [
            _format_fee(it, it.business_name or it.reference, it.stall_type or "", FEE_LABELS[it.status])
            for it in settlement.fees
        ]
        fees.append(_format_fee(settlement.money.stall_fees, "Together"))
        sheet.long_table("Stall by stall", LongTable(FEE_COLUMNS, fees))
    if settlement.documents:
        documents = (
            (
                row.number,
                format_day(row.issued_at),
                row.buyer or "",
                format_money(row.total_minor),
                _format_unless_zero(row.open_minor),
            )
            for row in settlement.documents
        )
        sheet.long_table("Invoices and credit notes", LongTable(DOCUMENT_COLUMNS, documents))


def _format_fee(fee: Row[Any] | FeeBooks, name: str, stall_type: str = "", state: str = "") -> tuple[str, ...]:
    amounts = (fee.paid_minor + fee.received_minor, fee.refunded_minor, fee.open_minor)
    return name, stall_type, state, format_money(fee.due_minor), *map(_format_unless_zero, amounts)


def _format_unless_zero(amount_minor: int) -> str:
    return format_money(amount_minor) if amount_minor else ""
