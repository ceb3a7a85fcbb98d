"""What an invoice or a credit note says: everything that is printed on it, frozen when it is issued.

Dates are words already, because clocks and calendars change; money is whole cents. It is kept as JSON, so whatever
happens to event, block and holder afterwards, the paper stays what it was.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

INVOICE, CREDIT_NOTE = "invoice", "credit_note"
TITLES = {INVOICE: "Invoice", CREDIT_NOTE: "Credit note"}
# Rises when the layout changes; papers of an earlier one are drawn as they were.
LAYOUT_VERSION = 1


@dataclass(frozen=True, kw_only=True)
class DocumentLine:
    """What is charged; a discount has a negative amount, and neither quantity nor price."""

    what: str
    amount_minor: int
    quantity: int | None = None
    unit_price_minor: int | None = None


@dataclass(frozen=True, kw_only=True)
class InvoiceDocument:
    """An invoice, or with `corrects` a credit note for one. The first line of each party is its name."""

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

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def parse_document(data: Mapping[str, Any]) -> InvoiceDocument:
    """The paper that `as_json` gave."""
    facts = [(label, value) for label, value in data["facts"]]
    return InvoiceDocument(**{**data, "facts": facts, "lines": [DocumentLine(**line) for line in data["lines"]]})
