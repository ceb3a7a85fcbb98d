"""The VAT of an organisation in a period: what its invoices and credit notes with a VAT number say."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from app.accounts.organisation_details import load_organisation_details
from app.core.db import fetch_rows
from app.money.sql import VAT_SQL


@dataclass(frozen=True)
class VatLine:
    """The documents of a kind and a rate, in cents; of credit notes the amounts are below zero."""

    vat_percent: Decimal
    kind: str
    documents: int
    net_minor: int
    vat_minor: int
    gross_minor: int


@dataclass(frozen=True)
class VatSummary:
    """The VAT of a period. Without a VAT number and documents with one there are no lines."""

    since: date
    until: date
    vat_number: str | None
    lines: Sequence[VatLine]
    currency: str = "NAD"

    @property
    def vat_minor(self) -> int:
        return sum(line.vat_minor for line in self.lines)


def load_vat_summary(organisation_id: str, since: date, until: date, event_id: str | None = None) -> VatSummary:
    """The VAT of the days from `since` to `until`, of one event or of all."""
    parameters = {"organisation_id": organisation_id, "since": since, "until": until, "event_id": event_id}
    lines = [VatLine(rate, kind, *map(int, sums)) for rate, kind, *sums in fetch_rows(VAT_SQL, parameters)]
    return VatSummary(since, until, load_organisation_details(organisation_id).vat_number, lines)
