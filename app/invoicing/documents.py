"""What an invoice or a credit note says, and its VAT. docs/invoices.md has the law.

A document is stored as JSON when it is issued, and never changed. Dates are stored as text, amounts as whole cents. A
pro forma invoice and a preview are not stored.
"""

from dataclasses import asdict, dataclass, field, replace
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from app.accounts.organisation_details import BankDetails
from app.core.formatting import format_money

INVOICE, CREDIT_NOTE, PRO_FORMA, PREVIEW = "invoice", "credit_note", "pro_forma", "preview"
TITLES = {
    INVOICE: "Invoice",
    CREDIT_NOTE: "Credit note",
    PRO_FORMA: "Pro forma invoice",
    PREVIEW: "Preview of the invoice",
}
TAX_TITLES = {
    **TITLES,
    INVOICE: "Tax invoice",
    CREDIT_NOTE: "Tax credit note",
    PREVIEW: "Preview of the tax invoice",
}
FIRST_LAYOUT, LAYOUT_VERSION = 1, 2
"""Increase the version when the layout changes; documents of an earlier layout are drawn as before."""
CURRENCY_NOTE = "All amounts are in Namibian dollars."
VAT_NOTE = f"{CURRENCY_NOTE} Prices include VAT."
PREVIEW_NOTE = "This is a preview, not an invoice. Nothing is due yet."
PREVIEW_REFERENCE = "The number of the invoice"
DocumentJson = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class DocumentLine:
    """A line of the table; a discount or credit has a negative amount."""

    what: str
    amount_minor: int
    quantity: int | None = None
    unit_price_minor: int | None = None


@dataclass(frozen=True, kw_only=True)
class InvoiceDocument:
    """An invoice, a credit note, a pro forma invoice or a preview. The first line of seller and buyer is their name.

    A preview has no number. `vat_number` is the seller's; without one the document shows no VAT, except in the first layout. `payment` says how
    to pay, `settled` that and how it was paid. Amounts contain VAT.
    """

    kind: str
    number: str
    issued: str
    seller: list[str]
    buyer: list[str]
    facts: list[tuple[str, str]]
    lines: list[DocumentLine]
    vat_percent: float
    vat_minor: int
    total_minor: int
    currency: str = "NAD"
    notes: list[str]
    contact: str = ""
    vat_number: str = ""
    payment: list[tuple[str, str]] = field(default_factory=list)
    settled: str = ""
    layout: int = LAYOUT_VERSION

    @property
    def title(self) -> str:
        return (TAX_TITLES if self.vat_number else TITLES)[self.kind]

    @property
    def full_title(self) -> str:
        """The title with the number."""
        return f"{self.title} {self.number}".rstrip()

    @property
    def shows_vat(self) -> bool:
        return bool(self.vat_number) or self.layout == FIRST_LAYOUT

    def to_json(self) -> DocumentJson:
        return asdict(self)


def parse_document(data: DocumentJson) -> InvoiceDocument:
    """Return the document that `to_json` serialized."""
    pairs = {name: [(label, value) for label, value in data.get(name, [])] for name in ("facts", "payment")}
    return InvoiceDocument(**{**data, **pairs, "lines": [DocumentLine(**line) for line in data["lines"]]})


def mark_as_preview(document: InvoiceDocument, bank: BankDetails | None) -> InvoiceDocument:
    """Return an invoice that has no number yet as a preview, with how to pay."""
    payment = build_payment_rows(bank, PREVIEW_REFERENCE)
    return replace(document, kind=PREVIEW, payment=payment, notes=[PREVIEW_NOTE, *document.notes])


def list_known_lines(*texts: str | None) -> list[str]:
    """Return the lines of the texts that are known, each once."""
    lines = [line.strip() for text in texts if text for line in text.splitlines()]
    return list(dict.fromkeys(line for line in lines if line))


def format_vat_number(vat_number: str | None) -> str:
    return f"VAT registration number {vat_number}" if vat_number else ""


def build_payment_rows(bank: BankDetails | None, reference: str) -> list[tuple[str, str]]:
    """Return the rows that say where to transfer the money; none without bank details."""
    if bank is None:
        return []
    rows = [
        ("Account name", bank.account_name),
        ("Bank", bank.bank_name),
        ("Account number", bank.account_number),
        ("Branch code", bank.branch_code or ""),
        ("Reference", reference),
    ]
    return [row for row in rows if row[1]]


def calculate_vat(total_minor: int, percent: float) -> int:
    """Return the VAT that an amount contains."""
    rate = Decimal(str(percent))
    return round_half_up(Decimal(total_minor) * rate / (100 + rate))


def calculate_correction(original: InvoiceDocument, before_minor: int, after_minor: int) -> tuple[int, list[str]]:
    """Return the VAT that a credit note takes off, and the note with the values without VAT; none without VAT."""
    vat_before_minor, vat_after_minor = (
        calculate_vat(total_minor, original.vat_percent) for total_minor in (before_minor, after_minor)
    )
    vat_minor = vat_before_minor - vat_after_minor
    if not original.shows_vat:
        return vat_minor, []
    before, after = before_minor - vat_before_minor, after_minor - vat_after_minor
    note = f"Without VAT it was {format_money(before)} and is {format_money(after)} now, {format_money(before - after)} less."
    return vat_minor, [note]


def round_half_up(amount: Decimal) -> int:
    return int(amount.quantize(Decimal(1), rounding=ROUND_HALF_UP))
