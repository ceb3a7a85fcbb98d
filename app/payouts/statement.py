"""Monthly statements of merchants: figures, PDF, and which are due. Months are calendar months in Windhoek.

The PDF of a month is always the same bytes.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from email.utils import parseaddr
from zoneinfo import ZoneInfo

from flask import current_app
from sqlalchemy import Date, cast, func, select

from app.accounts.models import Account
from app.core.charts import StepChart
from app.core.clock import utcnow
from app.core.db import db, fetch_row, fetch_rows
from app.core.formatting import HOME, format_money
from app.core.ids import is_id
from app.core.pdf import Sheet
from app.ledger.models import PAYOUT, RETURN, SETTLEMENT, LedgerEntry
from app.ledger.queries import LedgerMovement, LedgerPeriod, load_ledger_period
from app.merchants.models import MerchantProfile
from app.payouts import sql

MOVEMENT_NAMES = {SETTLEMENT: "Earnings", PAYOUT: "Payout", RETURN: "Returned payout"}
TABLE_HEADINGS = ("Date", "What", "Reference", "Amount", "Balance")
BATCH_SIZE = 500
COLUMN_WIDTHS = (0.09, 0.27, 0.32, 0.16, 0.16)


@dataclass(frozen=True)
class MonthlyStatement:
    """A merchant's month. `movements` leaves out holds and releases, which do not change the balance."""

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
    """The statement of a month; None when the account does not exist."""
    account = db.session.get(Account, account_id)
    if account is None:
        return None
    profile = db.session.get(MerchantProfile, account_id)
    names = [profile.business_name if profile else "", account.name, account.email]
    distinct_names = list(dict.fromkeys(name for name in names if name))
    return MonthlyStatement(first_day, distinct_names, load_ledger_period(account_id, *get_month_bounds(first_day)))


def build_summary(statement: MonthlyStatement) -> list[tuple[str, str]]:
    """The figures of the month, as label and amount; they add up to the closing balance."""
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
    """The movements as text: day, description, reference, amount, balance."""
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
    """The statement as PDF, with a chart of the balances at the ends of days if there are several."""
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
        balance_by_day = _list_balances(statement)
        if len(balance_by_day) > 1:
            sheet.heading("Balance over the month")
            sheet.figure(_build_chart(statement, balance_by_day))
        sheet.table(
            TABLE_HEADINGS,
            _build_short_lines(statement),
            widths=COLUMN_WIDTHS,
            figures=2,
            title="Movements",
            under="The reference of earnings is that of their settlement file.",
        )
    return sheet.data


def format_payout_reference(payout_id: str) -> str:
    """The reference of a payout for people: the end of its id, like `PO-A9F8E7D6`."""
    return f"PO-{payout_id[-8:].upper()}"


def _build_short_lines(statement: MonthlyStatement) -> list[tuple[str, ...]]:
    """The movements as in `build_lines`, with short references."""
    return [
        tuple(format_payout_reference(cell) if is_id(cell) else cell for cell in line)
        for line in build_lines(statement)
    ]


def _list_balances(statement: MonthlyStatement) -> dict[int, int]:
    """The balance at the end of each day with movements, by the day of the month."""
    return {_get_local_day(movement.posted_at).day: movement.balance_minor for movement in statement.movements}


def _build_chart(statement: MonthlyStatement, balance_by_day: dict[int, int]) -> StepChart:
    since, until = get_month_bounds(statement.first_day)
    days = round((until - since).total_seconds() / 86400)
    points = [(0.0, statement.ledger_period.opening.balance_minor)]
    points += [((day - 1) / days, balance_minor) for day, balance_minor in balance_by_day.items()]
    points.append((1.0, statement.ledger_period.closing.balance_minor))
    ticks = [((day - 0.5) / days, str(day)) for day in (1, *range(5, days - 1, 5), days)]
    return StepChart(points, ticks=ticks, spoken=_format_rounded)


def _format_rounded(amount: int) -> str:
    """The amount without cents if they are zero, for the axis."""
    return format_money(amount).removesuffix(".00")


def _format_day(moment: datetime) -> str:
    return f"{_get_local_day(moment):%-d %b}"


def _get_local_day(moment: datetime) -> date:
    return moment.astimezone(ZoneInfo(HOME)).date()


def list_statement_months(account_id: str) -> list[date]:
    """The first days of the months before this one in which the merchant's balance changed, the latest first."""
    month = func.date_trunc("month", func.timezone(HOME, LedgerEntry.posted_at))
    statement = select(cast(month, Date)).distinct().where(LedgerEntry.owner_id == account_id)
    months = db.session.scalars(statement.order_by(cast(month, Date).desc()))
    return [first_day for first_day in months if first_day < get_today().replace(day=1)]


def get_today() -> date:
    return _get_local_day(utcnow())


def get_previous_month(day: date) -> date:
    """The first day of the previous month."""
    return (day.replace(day=1) - timedelta(days=1)).replace(day=1)


def parse_month(month: str) -> date:
    """The first day of a month like `2026-11`. Raises ValueError, also for the first and last year of the calendar."""
    first_day = datetime.strptime(month, "%Y-%m").date()
    if not 1 < first_day.year < 9999:
        raise ValueError(month)
    return first_day


def get_month_bounds(month: date) -> tuple[datetime, datetime]:
    """The first instant of the month and of the next, in UTC."""
    next_month = (month + timedelta(days=32)).replace(day=1)
    since, until = (datetime.combine(day, time(), ZoneInfo(HOME)).astimezone(UTC) for day in (month, next_month))
    return since, until


def create_due_statements(month: date) -> list[str]:
    """Mark the month's statement as enqueued for up to 500 merchants with movements; return their account ids.

    Runs in the caller's transaction. Returns none while the month is not over by the database's clock, or while a
    transaction is open that began in it, because the statement could miss what that posts.
    """
    since, until = get_month_bounds(month)
    month_is_open = fetch_row(sql.MONTH_IS_OPEN, {"until": until})
    if month_is_open is None or month_is_open[0]:
        return []
    rows = fetch_rows(
        sql.CREATE_DUE_STATEMENTS, {"month": month, "since": since, "until": until, "batch_size": BATCH_SIZE}
    )
    return [account_id for (account_id,) in rows]
