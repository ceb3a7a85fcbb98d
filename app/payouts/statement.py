"""A merchant's month: what came in, what was paid out, what is left. The same bytes however often it is made."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from email.utils import parseaddr
from zoneinfo import ZoneInfo

from flask import current_app

from app.accounts.models import Account
from app.core.charts import StepChart
from app.core.dates import HOME
from app.core.db import db
from app.core.money import spoken
from app.core.pdf import Sheet
from app.ledger.models import PAYOUT, RETURN, SETTLEMENT
from app.ledger.queries import Movement, Period, period
from app.merchants.models import MerchantProfile
from app.payouts import months

WORDS = {SETTLEMENT: "Earnings", PAYOUT: "Payout", RETURN: "Returned payout"}
HEADER = ("Date", "What", "Reference", "Amount", "Balance")
WIDTHS = (0.09, 0.27, 0.32, 0.16, 0.16)


@dataclass(frozen=True)
class Month:
    """A merchant's month with his names; `movements` are those that changed what he has."""

    first: date
    names: Sequence[str]
    found: Period

    @property
    def movements(self) -> list[Movement]:
        return [movement for movement in self.found.movements if movement.kind in WORDS]

    @property
    def title(self) -> str:
        return f"{self.first:%B %Y}"

    def total(self, kind: str) -> int:
        return sum(movement.amount_minor for movement in self.found.movements if movement.kind == kind)


def month_of(account_id: str, first: date) -> Month | None:
    """The month of a merchant; None when there is no such account."""
    account = db.session.get(Account, account_id)
    if account is None:
        return None
    profile = db.session.get(MerchantProfile, account_id)
    names = [profile.business_name if profile else "", account.name, account.email]
    told = list(dict.fromkeys(name for name in names if name))
    return Month(first, told, period(account_id, *months.span(first)))


def summary(month: Month) -> list[tuple[str, str]]:
    """The month in a few figures that add up."""
    found = month.found
    rows = [
        ("Balance at the beginning", spoken(found.opening.balance_minor)),
        ("Earnings", spoken(month.total(SETTLEMENT))),
        ("Paid out", spoken(month.total(PAYOUT))),
    ]
    if month.total(RETURN):
        rows.append(("Returned", spoken(month.total(RETURN))))
    if found.closing.held_minor:
        rows.append(("Of the balance, on its way to you", spoken(found.closing.held_minor)))
    return rows


def lines(month: Month) -> list[tuple[str, str, str, str, str]]:
    """The movements, as the statement and the report show them."""
    return [
        (
            _short(movement.posted_at),
            movement.description or WORDS[movement.kind],
            movement.reference,
            spoken(movement.amount_minor),
            spoken(movement.balance_minor),
        )
        for movement in month.movements
    ]


def statement_pdf(month: Month) -> bytes:
    """The statement as a document, with a chart of the balance over the month."""
    settings = current_app.extensions["settings"]
    service = parseaddr(settings.MAIL_FROM)[0] or "Event Commerce"
    with Sheet(
        title="Statement",
        number=month.title,
        when="All amounts in NAD",
        author=service,
        foot=f"{service} · {month.names[0]} · {month.title}",
    ) as sheet:
        sheet.parties([service, settings.PUBLIC_BASE_URL], month.names)
        sheet.lines(summary(month))
        sheet.total("Balance at the end", spoken(month.found.closing.balance_minor))
        sheet.heading("Balance over the month")
        sheet.figure(_chart(month))
        sheet.heading("Movements")
        sheet.table(HEADER, lines(month), widths=WIDTHS, figures=2)
        sheet.note("Earnings are entered from settlement files; the reference is theirs, that of a payout is its id.")
    return sheet.data


def _chart(month: Month) -> StepChart:
    since, until = months.span(month.first)
    length = (until - since).total_seconds()
    points = [(0.0, month.found.opening.balance_minor)]
    points += [
        ((movement.posted_at - since).total_seconds() / length, movement.balance_minor) for movement in month.movements
    ]
    points.append((1.0, month.found.closing.balance_minor))
    days = round(length / 86400)
    ticks = [((number - 0.5) / days, str(number)) for number in (1, *range(5, days - 1, 5), days)]
    return StepChart(points, ticks=ticks, spoken=_rounded)


def _rounded(amount: int) -> str:
    """Whole dollars are enough beside an axis."""
    return spoken(amount).removesuffix(".00")


def _short(moment: datetime) -> str:
    return f"{moment.astimezone(ZoneInfo(HOME)):%-d %b}"
