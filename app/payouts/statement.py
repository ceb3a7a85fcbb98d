"""A merchant's month: what came in, what was paid out, what is left. The same bytes however often it is made.

Calendar months in Windhoek, and whose statement is owed for one.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from email.utils import parseaddr
from zoneinfo import ZoneInfo

from flask import current_app
from sqlalchemy import text
from sqlalchemy.orm import Session as OrmSession

from app.accounts.models import Account
from app.core.clock import utcnow
from app.core.date_format import HOME
from app.core.db import db
from app.core.money import format_money
from app.core.pdf import Sheet
from app.core.step_chart import StepChart
from app.ledger.models import PAYOUT, RETURN, SETTLEMENT
from app.ledger.queries import LedgerMovement, LedgerPeriod, load_ledger_period
from app.merchants.models import MerchantProfile

MOVEMENT_NAMES = {SETTLEMENT: "Earnings", PAYOUT: "Payout", RETURN: "Returned payout"}
TABLE_HEADINGS = ("Date", "What", "Reference", "Amount", "Balance")
COLUMN_WIDTHS = (0.09, 0.27, 0.32, 0.16, 0.16)


@dataclass(frozen=True)
class MonthlyStatement:
    """A merchant's month with their names; `movements` are those that changed what they have."""

    first_day: date
    names: Sequence[str]
    ledger_period: LedgerPeriod

    @property
    def movements(self) -> list[LedgerMovement]:
        return [movement for movement in self.ledger_period.movements if movement.kind in MOVEMENT_NAMES]

    @property
    def title(self) -> str:
        return f"{self.first_day:%B %Y}"

    def sum_amounts(self, kind: str) -> int:
        return sum(movement.amount_minor for movement in self.ledger_period.movements if movement.kind == kind)


def find_statement(account_id: str, first_day: date) -> MonthlyStatement | None:
    """The month of a merchant; None when there is no such account."""
    account = db.session.get(Account, account_id)
    if account is None:
        return None
    profile = db.session.get(MerchantProfile, account_id)
    names = [profile.business_name if profile else "", account.name, account.email]
    distinct_names = list(dict.fromkeys(name for name in names if name))
    return MonthlyStatement(first_day, distinct_names, load_ledger_period(account_id, *get_month_bounds(first_day)))


def build_summary(statement: MonthlyStatement) -> list[tuple[str, str]]:
    """The month in a few figures that add up."""
    ledger_period = statement.ledger_period
    rows = [
        ("Balance at the beginning", format_money(ledger_period.opening.balance_minor)),
        ("Earnings", format_money(statement.sum_amounts(SETTLEMENT))),
        ("Paid out", format_money(statement.sum_amounts(PAYOUT))),
    ]
    if statement.sum_amounts(RETURN):
        rows.append(("Returned", format_money(statement.sum_amounts(RETURN))))
    if ledger_period.closing.held_minor:
        rows.append(("Of the balance, on its way to you", format_money(ledger_period.closing.held_minor)))
    return rows


def build_lines(statement: MonthlyStatement) -> list[tuple[str, str, str, str, str]]:
    """The movements, as the statement and the report show them."""
    return [
        (
            _format_day(movement.posted_at),
            movement.description or MOVEMENT_NAMES[movement.kind],
            movement.reference,
            format_money(movement.amount_minor),
            format_money(movement.balance_minor),
        )
        for movement in statement.movements
    ]


def draw_statement(statement: MonthlyStatement) -> bytes:
    """The statement as a document, with a chart of the balance over the month."""
    settings = current_app.extensions["settings"]
    service = parseaddr(settings.MAIL_FROM)[0] or "Event Commerce"
    with Sheet(
        title="Statement",
        number=statement.title,
        when="All amounts in NAD",
        author=service,
        foot=f"{service} · {statement.names[0]} · {statement.title}",
    ) as sheet:
        sheet.parties([service, settings.PUBLIC_BASE_URL], statement.names)
        sheet.lines(build_summary(statement))
        sheet.total("Balance at the end", format_money(statement.ledger_period.closing.balance_minor))
        sheet.heading("Balance over the month")
        sheet.figure(_build_chart(statement))
        sheet.heading("Movements")
        sheet.table(TABLE_HEADINGS, build_lines(statement), widths=COLUMN_WIDTHS, figures=2)
        sheet.note("Earnings are entered from settlement files; the reference is theirs, that of a payout is its id.")
    return sheet.data


def _build_chart(statement: MonthlyStatement) -> StepChart:
    since, until = get_month_bounds(statement.first_day)
    length = (until - since).total_seconds()
    points = [(0.0, statement.ledger_period.opening.balance_minor)]
    points += [
        ((movement.posted_at - since).total_seconds() / length, movement.balance_minor)
        for movement in statement.movements
    ]
    points.append((1.0, statement.ledger_period.closing.balance_minor))
    days = round(length / 86400)
    ticks = [((day - 0.5) / days, str(day)) for day in (1, *range(5, days - 1, 5), days)]
    return StepChart(points, ticks=ticks, spoken=_format_rounded)


def _format_rounded(amount: int) -> str:
    """Whole dollars are enough beside an axis."""
    return format_money(amount).removesuffix(".00")


def _format_day(moment: datetime) -> str:
    return f"{moment.astimezone(ZoneInfo(HOME)):%-d %b}"


BATCH_SIZE = 500
# A merchant without a movement has nothing to read. The purse is walked, not the ledger: it has a row a merchant.
CREATE_STATEMENTS_SQL = text("""
    INSERT INTO payout_statement (account_id, month)
    SELECT p.owner_id, :month FROM ledger_purse p
     WHERE NOT EXISTS (SELECT 1 FROM payout_statement s WHERE s.account_id = p.owner_id AND s.month = :month)
       AND EXISTS (SELECT 1 FROM ledger_entry e
                    WHERE e.owner_id = p.owner_id AND e.posted_at >= :since AND e.posted_at < :until)
     ORDER BY p.owner_id LIMIT :page
    ON CONFLICT DO NOTHING RETURNING account_id
""")


def get_today() -> date:
    return utcnow().astimezone(ZoneInfo(HOME)).date()


def get_previous_month(day: date) -> date:
    """The first day of the month before."""
    return (day.replace(day=1) - timedelta(days=1)).replace(day=1)


def parse_month(month: str) -> date:
    """The first day of `2026-11`. Raises ValueError, also for a month without a neighbour in the calendar."""
    first_day = datetime.strptime(month, "%Y-%m").date()
    if not 1 < first_day.year < 9999:
        raise ValueError(month)
    return first_day


def get_month_bounds(month: date) -> tuple[datetime, datetime]:
    """Its first instant, and that of the next."""
    next_month = (month + timedelta(days=32)).replace(day=1)
    since, until = (datetime.combine(day, time(), ZoneInfo(HOME)).astimezone(UTC) for day in (month, next_month))
    return since, until


# What is booked has the time at which its transaction began, and is seen when it ends. Which month is over is found out
# by another clock than the database's, which may say that it is not.
MONTH_IS_OPEN_SQL = text("""
    SELECT now() < :until OR EXISTS (SELECT FROM pg_stat_activity
                    WHERE datname = current_database() AND backend_type = 'client backend'
                      AND pid <> pg_backend_pid() AND xact_start < :until)
""")


def create_due_statements(session: OrmSession, month: date) -> Sequence[str]:
    """Merchants with movements in the month who have no statement yet; from now on they count as having one.

    Nobody while the month is not over by the database's clock, or a transaction that began in it is open: something
    may be booked that the statement would miss.
    """
    since, until = get_month_bounds(month)
    if session.scalar(MONTH_IS_OPEN_SQL, {"until": until}):
        return []
    return session.scalars(
        CREATE_STATEMENTS_SQL, {"month": month, "since": since, "until": until, "page": BATCH_SIZE}
    ).all()
