"""Addresses that an account has given up and can take back: nobody else can register or take them for seven days.

The reservation is the row of the change. Code that checks or changes it has locked the address.
"""

from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, Select, delete, exists, func, or_, select
from sqlalchemy.orm import Session as OrmSession

from app.accounts.own_account_models import AddressChange
from app.core.tokens import derived_text

UNDO_PERIOD = timedelta(days=7)


def is_reserved_condition(email: str) -> ColumnElement[bool]:
    """Whether an account can take this address back, as a condition of a statement."""
    return exists().where(*_list_conditions(email))


def is_reserved(session: OrmSession, email: str, *, except_account_id: str = "") -> bool:
    """Whether another account can take this address back."""
    query = select(AddressChange.id).where(*_list_conditions(email), AddressChange.account_id != except_account_id)
    return session.scalar(query.limit(1)) is not None


def find_reservation_end(session: OrmSession, email: str, *, except_account_ids: Select[str]) -> datetime | None:
    """Until when an account, other than these, can take the address back; None when none can."""
    conditions = (*_list_conditions(email), AddressChange.account_id.not_in(except_account_ids))
    return session.scalar(select(func.max(AddressChange.undo_until)).where(*conditions))


def _list_conditions(email: str) -> tuple[ColumnElement[bool], ...]:
    return (
        AddressChange.old_email == email,
        AddressChange.confirmed_at.is_not(None),
        AddressChange.ended_at.is_(None),
        AddressChange.undo_until > func.now(),
    )


def build_undo_token(change_id: str) -> str:
    """The token of the link that undoes a change. Only its hash is stored; a repeated mail has the same link."""
    return derived_text("undo-address-change", change_id)


def delete_expired_changes(session: OrmSession) -> None:
    """Deletes changes that are over: pending ones after a day, others a day after they can no longer be undone."""
    day_ago = func.now() - timedelta(days=1)
    session.execute(
        delete(AddressChange).where(
            or_(
                AddressChange.undo_until < day_ago,
                AddressChange.undo_until.is_(None) & (AddressChange.created_at < day_ago),
            )
        )
    )
