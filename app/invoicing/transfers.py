"""Bank transfers that pay fees and invoices: the days on which they can have come in, and until which they are to."""

from datetime import date, timedelta
from zoneinfo import ZoneInfo

from app.core.db import database_now
from app.core.errors import ValidationFailed
from app.core.formatting import HOME, format_money

MAX_AGE = timedelta(days=365)
"""How long ago a transfer may have come in."""
MAX_TIME_TO_PAY = timedelta(days=366)
"""How late a fee or an invoice may be due."""
FUTURE, TOO_EARLY = "future", "too_early"
DAY_MESSAGES = {FUTURE: "Must not be in the future.", TOO_EARLY: "Must not be more than a year ago."}


def find_day_problem(day: date, *, today: date) -> str | None:
    """Return why no transfer can have come in on that day: it is `future` or `too_early`."""
    if day > today:
        return FUTURE
    return TOO_EARLY if day < today - MAX_AGE else None


def list_transfer_errors(
    what: str, due_minor: int, *, amount_minor: int, received_on: date, part: bool = False
) -> list[dict[str, str]]:
    """Return the errors of a transfer that has to pay `due_minor`, in cents, with its field, code and message.

    A `part` may also be less.
    """
    errors = []
    if amount_minor > due_minor or (amount_minor < due_minor and not part):
        message = f"{what} {format_money(due_minor)}: amountMinor {due_minor}."
        errors.append({"path": "amountMinor", "code": "wrong_fee", "message": message})
    day_problem = find_day_problem(received_on, today=database_now().astimezone(ZoneInfo(HOME)).date())
    if day_problem:
        errors.append({"path": "receivedOn", "code": day_problem, "message": DAY_MESSAGES[day_problem]})
    return errors


def check_pay_by(day: date, *, today: date, last_day: date | None = None) -> None:
    """Raise ValidationFailed for a day until which nobody can pay: before today, or after the last one, by default in a year."""
    if day < today:
        raise ValidationFailed.of("payBy", "too_small", "Must be today or later.")
    last_day = last_day or today + MAX_TIME_TO_PAY
    if day > last_day:
        raise ValidationFailed.of("payBy", "too_large", f"Must not be after {last_day}.")
