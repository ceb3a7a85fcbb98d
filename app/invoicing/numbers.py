"""Numbers without gaps: each organiser has one counter for each series and year, whose row stays locked until the commit.

A rollback returns the number, and the next document waits.
"""

from datetime import datetime
from typing import NamedTuple

from sqlalchemy.orm import Session

from app.core.formatting import HOME
from app.invoicing import sql
from app.invoicing.documents import CREDIT_NOTE, INVOICE

STALL_FEE, STALL_FEE_CREDIT = "stall_fee", "stall_fee_credit"
FORMATS = {
    INVOICE: "{year}-{sequence:06d}",
    CREDIT_NOTE: "CN-{year}-{sequence:06d}",
    STALL_FEE: "STL-{year}-{sequence:05d}",
    STALL_FEE_CREDIT: "CN-STL-{year}-{sequence:05d}",
}


class InvoiceNumber(NamedTuple):
    """The number of a document in its series and year."""

    series: str
    year: int
    sequence: int

    def __str__(self) -> str:
        return FORMATS[self.series].format(year=self.year, sequence=self.sequence)


def take_next_number(session: Session, organiser_id: str, series: str, moment: datetime) -> InvoiceNumber:
    """Return the organiser's next number of a series, in the year of `moment` in Windhoek."""
    params = {"organiser_id": organiser_id, "series": series, "moment": moment, "home": HOME}
    year, sequence = session.execute(sql.TAKE_NUMBER, params).one()
    return InvoiceNumber(series, year, sequence)
