"""Erasing personal data from applications: name, addresses, wallet, texts, and the scans of documents.

Reference, event, amounts, state, decision and their moments stay: payments and reports are made of them.
"""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from sqlalchemy import ColumnElement, Select, case, delete, exists, func, null, select, update
from sqlalchemy.orm import Session as OrmSession

from app.applications.models import UNFINISHED, Application, ApplicationDocument, ApplicationLink, StallPayment
from app.applications.payment import UNANSWERED
from app.applications.states import DECLINED, EXPIRED, OPEN, WITHDRAWN
from app.core.db import db
from app.core.outbox import enqueue_many
from app.merchants.deletion_hooks import MerchantDeletion, on_merchant_deleted

NOBODY = "Deleted merchant"
NO_WALLET = ""
FILES_AT_ONCE = 100
BATCH = 500
WAITING = ("starting", "otp_required")
ENDED_WITH_WALLET = StallPayment.status.not_in(UNFINISHED) & ~UNANSWERED & (StallPayment.msisdn != NO_WALLET)
ENDED = (DECLINED, WITHDRAWN, EXPIRED)
PERSONAL = (
    "contact_name",
    "email",
    "phone",
    "products",
    "description",
    "website",
    "payrail_msisdn",
    "invite_slug",
    "decline_reason",
    "reviewer_notes",
    "activation_message",
)


@on_merchant_deleted
def erase_of_merchant(session: OrmSession, leaving: MerchantDeletion) -> None:
    """Erases the applications of an account, and those that were sent from its verified address without signing in.

    A retired account is detached first from those where money has moved, or may have: whoever paid goes on with the
    links in their mails.
    """
    own: ColumnElement[bool] = Application.account_id == leaving.account_id
    if leaving.email is not None:
        own = own | (Application.account_id.is_(None) & (Application.email == leaving.email))
    # Locked first and looked at then: nobody confirms a payment meanwhile.
    ids = session.scalars(select(Application.id).where(own).order_by(Application.id).with_for_update()).all()
    if leaving.retired:
        money = update(Application).where(Application.id.in_(ids), _has_money()).values(account_id=None)
        detached = session.scalars(money.returning(Application.id).execution_options(synchronize_session=False)).all()
        ids = [id for id in ids if id not in set(detached)]
    erase_applications(session, ids)


def erase_applications(session: OrmSession, ids: Sequence[str]) -> None:
    """Erases these applications, which are locked. Those still open are withdrawn; payments that wait for a code end.

    A payment whose confirmation is unanswered is asked about until the rail tells. Should it have taken the fee, that
    is a review, as for every application that has ended.
    """
    if not ids:
        return
    _write(
        session,
        update(StallPayment)
        .where(StallPayment.application_id.in_(ids), StallPayment.status.in_(WAITING), ~UNANSWERED)
        .values(status="expired"),
    )
    _write(
        session,
        update(Application)
        .where(Application.id.in_(ids))
        .values(
            **dict.fromkeys(PERSONAL, null()),
            business_name=NOBODY,
            erased_at=func.coalesce(Application.erased_at, func.now()),
            status=case((Application.status.in_(OPEN), WITHDRAWN), else_=Application.status),
            version=Application.version + 1,
            updated_at=func.now(),
        ),
    )
    living = (ApplicationLink.application_id.in_(ids), ApplicationLink.replaced_at.is_(None))
    _write(session, update(ApplicationLink).where(*living).values(replaced_at=func.now()))
    _write(
        session,
        update(StallPayment).where(StallPayment.application_id.in_(ids), ENDED_WITH_WALLET).values(msisdn=NO_WALLET),
    )
    erase_documents(session, ApplicationDocument.application_id.in_(ids))


def erase_documents(session: OrmSession, condition: ColumnElement[bool]) -> int:
    """Removes documents at once and their files by a job that is retried; how many."""
    statement = delete(ApplicationDocument).where(condition).returning(ApplicationDocument.stored_as)
    names = session.scalars(statement.execution_options(synchronize_session=False)).all()
    batches = [list(names[start : start + FILES_AT_ONCE]) for start in range(0, len(names), FILES_AT_ONCE)]
    enqueue_many("applications.delete_files", [(None, {"names": batch}) for batch in batches])
    return len(names)


def erase_ended_documents(session: OrmSession, days: int) -> int:
    """Removes a batch of documents of applications that ended more than `days` ago; how many."""
    batch = _ended_documents(days).limit(BATCH).with_for_update(of=ApplicationDocument, skip_locked=True)
    return erase_documents(session, ApplicationDocument.id.in_(batch))


def count_ended_documents(days: int) -> int:
    return db.session.scalar(select(func.count()).select_from(_ended_documents(days).subquery())) or 0


def erase_leftovers(session: OrmSession) -> int:
    """Erases the wallets of a batch of erased applications whose payment has ended since; how many."""
    batch = _leftovers().order_by(Application.id).limit(BATCH).with_for_update(of=Application, skip_locked=True)
    ids = session.scalars(batch).all()
    erase_applications(session, ids)
    return len(ids)


def count_leftovers() -> int:
    return db.session.scalar(select(func.count()).select_from(_leftovers().subquery())) or 0


def _leftovers() -> Select[Any]:
    wallet = exists().where(StallPayment.application_id == Application.id, ENDED_WITH_WALLET)
    return select(Application.id).where(Application.erased_at.is_not(None), wallet)


def _ended_documents(days: int) -> Select[Any]:
    return (
        select(ApplicationDocument.id)
        .join(Application, Application.id == ApplicationDocument.application_id)
        .where(Application.status.in_(ENDED), Application.updated_at < func.now() - timedelta(days=days))
    )


def _has_money() -> ColumnElement[bool]:
    unanswered = exists().where(StallPayment.application_id == Application.id, UNANSWERED)
    return Application.paid_at.is_not(None) | unanswered


def _write(session: OrmSession, statement: Any) -> int:
    result: Any = session.execute(statement.execution_options(synchronize_session=False))
    return int(result.rowcount)
