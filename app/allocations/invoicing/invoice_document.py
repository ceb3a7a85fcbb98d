"""The text of an invoice or a credit note, stored as JSON when it is issued and never changed.

Dates are stored as text, amounts as whole cents.
"""

from dataclasses import asdict, dataclass
from typing import Any

INVOICE, CREDIT_NOTE = "invoice", "credit_note"
TITLES = {INVOICE: "Invoice", CREDIT_NOTE: "Credit note"}
# Increase it when the layout changes; documents of an earlier layout are drawn as before.
LAYOUT_VERSION = 1
DocumentJson = dict[str, Any]
"""The fields of an InvoiceDocument as JSON."""


@dataclass(frozen=True, kw_only=True)
class DocumentLine:
    """A line of the table; a discount or credit has a negative amount."""

    what: str
    amount_minor: int
    quantity: int | None = None
    unit_price_minor: int | None = None


@dataclass(frozen=True, kw_only=True)
class InvoiceDocument:
    """An invoice or a credit note. The first line of seller and buyer is their name."""

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
    layout: int = LAYOUT_VERSION

    @property
    def title(self) -> str:
        return TITLES[self.kind]

    def to_json(self) -> DocumentJson:
        return asdict(self)


def parse_document(data: DocumentJson) -> InvoiceDocument:
    """Return the document that `to_json` serialized."""
    facts = [(label, value) for label, value in data["facts"]]
    return InvoiceDocument(**{**data, "facts": facts, "lines": [DocumentLine(**line) for line in data["lines"]]})
