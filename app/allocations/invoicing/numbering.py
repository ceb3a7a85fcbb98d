"""Numbers without gaps: one counter for each organiser, series and year.

The next number is taken in the transaction that issues the paper. It holds the counter's row until it commits, so the
next paper waits for it; what rolls back gives its number back.
"""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import text
from sqlalchemy.orm import Session

from app.allocations.invoicing.paper import CREDIT_NOTE
from app.core.dates import HOME

PREFIXES = {CREDIT_NOTE: "CN-"}
TAKE = text("""
    INSERT INTO invoice_counter (organiser_id, series, year, last)
    VALUES (:organiser_id, :series, extract(year FROM CAST(:moment AS timestamptz) AT TIME ZONE :home), 1)
        ON CONFLICT (organiser_id, series, year) DO UPDATE SET last = invoice_counter.last + 1
    RETURNING year, last
""")


@dataclass(frozen=True)
class Number:
    """The place of a paper in its series."""

    series: str
    year: int
    sequence: int

    def __str__(self) -> str:
        return f"{PREFIXES.get(self.series, '')}{self.year}-{self.sequence:06d}"


def take(session: Session, organiser_id: str, series: str, moment: datetime) -> Number:
    """The organiser's next number of a series in the year of `moment`, by the calendar of Windhoek."""
    given = {"organiser_id": organiser_id, "series": series, "moment": moment, "home": HOME}
    row = session.execute(TAKE, given).one()
    return Number(series, *row)
