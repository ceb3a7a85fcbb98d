"""What was done about an application, from the audit trail."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import select

from app.accounts.models import Account
from app.audit.actions import Action
from app.audit.models import AuditEntry
from app.core.db import db

ACTIONS = (
    Action.APPLICATION_APPROVED,
    Action.APPLICATION_DECLINED,
    Action.APPLICATION_REOPENED,
    Action.APPLICATION_WAITLISTED,
    Action.APPLICATION_WITHDRAWN,
    Action.PLACE_OFFERED,
    Action.PLACE_ACCEPTED,
    Action.PLACE_DECLINED,
    Action.PLACE_OFFER_LAPSED,
    Action.APPLICANT_CHANGED,
    Action.DOCUMENTS_ASKED_AGAIN,
    Action.DOCUMENTS_ACCEPTED,
    Action.DOCUMENTS_REOPENED,
    Action.DOCUMENTS_SUBMITTED,
    Action.STALL_FEE_RECEIVED,
    Action.STALL_FEE_PAID,
    Action.STALL_FEE_WAIVED,
    Action.STALL_FEE_REFUNDED,
)
BY_NAME = {action.value: action for action in ACTIONS}
MAX_ACTS = 200


class Act(NamedTuple):
    """An entry of the audit trail: when, the action, its data, and the name of the person who did it."""

    at: datetime
    action: Action
    data: dict[str, Any]
    actor_name: str | None


def list_acts(application_id: str) -> Sequence[Act]:
    """The last decisions, offers of a place, and acts on the documents and the fee of an application, the newest first."""
    statement = (
        select(AuditEntry.at, AuditEntry.action, AuditEntry.data, Account.name)
        .outerjoin(Account, Account.id == AuditEntry.actor_id)
        .where(
            AuditEntry.subject_kind == "application",
            AuditEntry.subject_id == application_id,
            AuditEntry.action.in_([action.value for action in ACTIONS]),
        )
        .order_by(AuditEntry.at.desc())
        .limit(MAX_ACTS)
    )
    return [Act(at, BY_NAME[action], data, name) for at, action, data, name in db.session.execute(statement)]


def find_first_fee(application_id: str) -> int | None:
    """The fee in cents that an application was sent with, if a decider has set another one; else None."""
    previous_minor = AuditEntry.data["previousMinor"].as_integer()
    statement = select(previous_minor).where(
        AuditEntry.subject_kind == "application",
        AuditEntry.subject_id == application_id,
        AuditEntry.action == Action.STALL_FEE_SET.value,
        previous_minor.is_not(None),
    )
    return db.session.scalar(statement.order_by(AuditEntry.at, AuditEntry.id).limit(1))
