"""Erasure of personal data in applications: names, contacts, wallet, texts, and the files of documents.

Reference, event, amounts, state, decision and their times stay, because payments and reports need them.
"""

from collections.abc import Sequence
from datetime import timedelta

from sqlalchemy import ColumnElement, Delete, Select, Update, case, delete, exists, func, null, select, update
from sqlalchemy.orm import Session as OrmSession

from app.accounts.deletion import account_deletion_check
from app.applications.errors import StallFeesOpen
from app.applications.models import (
    UNFINISHED_PAYMENT_STATES,
    Application,
    ApplicationDocument,
    ApplicationLink,
    StallFeeRefund,
    StallPayment,
    StallPaymentReview,
)
from app.applications.stall_payments import UNANSWERED_SQL
from app.applications.states import ENDED_STATES, OPEN_STATES, REFUND_REQUESTED, WITHDRAWN
from app.core.db import db
from app.core.outbox import enqueue_many
from app.events.failed_mails import FailedMail
from app.merchants.deletion_hooks import MerchantDeletion, on_merchant_deleted

ERASED_BUSINESS_NAME = "Deleted merchant"
ERASED_WALLET = ""
FILES_PER_JOB = 100
BATCH_SIZE = 500
MAX_LISTED_FEES = 20
WAITING_STATES = ("starting", "otp_required")
ENDED_WITH_WALLET_SQL = (
    StallPayment.status.not_in(UNFINISHED_PAYMENT_STATES) & ~UNANSWERED_SQL & (StallPayment.msisdn != ERASED_WALLET)
)
PERSONAL_COLUMNS = (
    "contact_name",
    "email",
    "phone",
    "language",
    "products",
    "description",
    "website",
    "payrail_msisdn",
    "billing_address",
    "billing_vat_number",
    "invite_slug",
    "decline_reason",
    "reviewer_notes",
    "activation_message",
)


@on_merchant_deleted
def erase_merchant_applications(session: OrmSession, deletion: MerchantDeletion) -> None:
    """Erases the applications of an account, and those sent without a login from its verified email.

    For a retired account, applications with a payment, or with an unknown outcome, are only detached. The account has
    seen their links, so these end; the pages of the links mail new ones to the address of the application.
    """
    condition: ColumnElement[bool] = Application.account_id == deletion.account_id
    if deletion.email is not None:
        condition = condition | (Application.account_id.is_(None) & (Application.email == deletion.email))
    # Locked before their payments are read, so that no payment is confirmed meanwhile.
    ids = session.scalars(select(Application.id).where(condition).order_by(Application.id).with_for_update()).all()
    if deletion.retired:
        detach_statement = update(Application).where(Application.id.in_(ids), _has_money_sql()).values(account_id=None)
        detached_ids = session.scalars(
            detach_statement.returning(Application.id).execution_options(synchronize_session=False)
        ).all()
        _end_links(session, detached_ids)
        ids = [id for id in ids if id not in set(detached_ids)]
    erase_applications(session, ids)


@account_deletion_check
def check_stall_fees(session: OrmSession, account_id: str) -> None:
    """Raises StallFeesOpen while a fee for a stall at an organiser's event is being paid or refunded, or a payment of one
    is under review."""
    has_review = exists().where(
        StallPaymentReview.reference == StallPayment.id, StallPaymentReview.resolved_at.is_(None)
    )
    is_being_refunded = exists().where(
        StallFeeRefund.application_id == Application.id, StallFeeRefund.status == REFUND_REQUESTED
    )
    query = (
        select(Application.reference, Application.business_name, StallPayment.amount_minor)
        .join(StallPayment, StallPayment.application_id == Application.id)
        .where(
            Application.organiser_id == account_id,
            StallPayment.status.in_(UNFINISHED_PAYMENT_STATES) | UNANSWERED_SQL | has_review | is_being_refunded,
        )
        .order_by(Application.reference)
        .limit(MAX_LISTED_FEES)
    )
    open_fees = session.execute(query).all()
    if open_fees:
        raise StallFeesOpen(
            f"These stall fees are not settled: {', '.join(fee.reference for fee in open_fees)}.",
            stallFees=[
                {"reference": fee.reference, "businessName": fee.business_name, "amountMinor": fee.amount_minor}
                for fee in open_fees
            ],
        )


def erase_applications(session: OrmSession, ids: Sequence[str]) -> None:
    """Erases these applications, which must be locked. Open ones are withdrawn; payments that wait for a code end.

    The rail is still asked about an unanswered payment. If the fee was taken, a review is added, as for every
    application that has ended.
    """
    if not ids:
        return
    _execute_write(session, delete(FailedMail).where(FailedMail.application_id.in_(ids)))
    _execute_write(
        session,
        update(StallPayment)
        .where(StallPayment.application_id.in_(ids), StallPayment.status.in_(WAITING_STATES), ~UNANSWERED_SQL)
        .values(status="expired"),
    )
    _execute_write(
        session,
        update(Application)
        .where(Application.id.in_(ids))
        .values(
            **dict.fromkeys(PERSONAL_COLUMNS, null()),
            business_name=ERASED_BUSINESS_NAME,
            erased_at=func.coalesce(Application.erased_at, func.now()),
            status=case((Application.status.in_(OPEN_STATES), WITHDRAWN), else_=Application.status),
            version=Application.version + 1,
            updated_at=func.now(),
        ),
    )
    _end_links(session, ids)
    _execute_write(
        session,
        update(StallPayment)
        .where(StallPayment.application_id.in_(ids), ENDED_WITH_WALLET_SQL)
        .values(msisdn=ERASED_WALLET),
    )
    erase_documents(session, ApplicationDocument.application_id.in_(ids))


def _end_links(session: OrmSession, ids: Sequence[str]) -> None:
    active_link_conditions = (ApplicationLink.application_id.in_(ids), ApplicationLink.replaced_at.is_(None))
    _execute_write(session, update(ApplicationLink).where(*active_link_conditions).values(replaced_at=func.now()))


def erase_documents(session: OrmSession, condition: ColumnElement[bool]) -> int:
    """Deletes documents, and their files by jobs with retries. Returns the number of documents."""
    statement = delete(ApplicationDocument).where(condition).returning(ApplicationDocument.stored_as)
    file_names = session.scalars(statement.execution_options(synchronize_session=False)).all()
    batches = [list(file_names[start : start + FILES_PER_JOB]) for start in range(0, len(file_names), FILES_PER_JOB)]
    enqueue_many("applications.delete_files", [(None, {"names": batch}) for batch in batches])
    return len(file_names)


def erase_ended_documents(session: OrmSession, days: int) -> int:
    """Deletes a batch of documents of applications that ended more than `days` ago. Returns their number."""
    batch = _ended_documents_query(days).limit(BATCH_SIZE).with_for_update(of=ApplicationDocument, skip_locked=True)
    return erase_documents(session, ApplicationDocument.id.in_(batch))


def count_ended_documents(days: int) -> int:
    return db.session.scalar(select(func.count()).select_from(_ended_documents_query(days).subquery())) or 0


def erase_leftover_wallets(session: OrmSession) -> int:
    """Erases the wallets of a batch of erased applications whose payment has ended since. Returns their number."""
    batch = (
        _leftover_wallets_query()
        .order_by(Application.id)
        .limit(BATCH_SIZE)
        .with_for_update(of=Application, skip_locked=True)
    )
    ids = session.scalars(batch).all()
    erase_applications(session, ids)
    return len(ids)


def count_leftover_wallets() -> int:
    return db.session.scalar(select(func.count()).select_from(_leftover_wallets_query().subquery())) or 0


def _leftover_wallets_query() -> Select[str]:
    has_wallet = exists().where(StallPayment.application_id == Application.id, ENDED_WITH_WALLET_SQL)
    return select(Application.id).where(Application.erased_at.is_not(None), has_wallet)


def _ended_documents_query(days: int) -> Select[str]:
    return (
        select(ApplicationDocument.id)
        .join(Application, Application.id == ApplicationDocument.application_id)
        .where(Application.status.in_(ENDED_STATES), Application.updated_at < func.now() - timedelta(days=days))
    )


def _has_money_sql() -> ColumnElement[bool]:
    has_unanswered = exists().where(StallPayment.application_id == Application.id, UNANSWERED_SQL)
    return Application.paid_at.is_not(None) | has_unanswered


def _execute_write(session: OrmSession, statement: Update | Delete) -> None:
    session.execute(statement.execution_options(synchronize_session=False))
