"""Stall payments: states, the current payment of an application, the limits of codes, and reviews.

    starting ──▶ otp_required ──▶ processing ──▶ paid
        │           │    ▲  └──▶ expired │
        │           ▼    └───────────────┤  (a wrong code)
        └─────▶ expired                  └──▶ declined

An application has at most one payment from `starting` to `paid`: a unique index refuses a second one. The payment's id
is the reference at the rail, so a repeated call is the same charge.

A payment is unanswered while a confirmation may have reached the rail and the outcome is not final. Its status reads
`processing`, whatever the row says, and no other payment of the application can start.

A reference has at most one open review of each kind. The operators get a mail about each review.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from typing import NotRequired, TypedDict, cast

import structlog
from flask import current_app
from sqlalchemy import ColumnElement, case, func, literal, select, text, update
from sqlalchemy.dialects.postgresql import JSONB, insert
from sqlalchemy.orm import Session as OrmSession

from app.applications import links
from app.applications.errors import PaymentInProgress
from app.applications.links import ResolvedLink
from app.applications.models import UNFINISHED_PAYMENT_STATES, Application, StallPayment, StallPaymentReview
from app.clients.payrail.message_parsing import MOCK_CODE
from app.core import throttle
from app.core.addresses import mask_number
from app.core.db import db
from app.core.errors import Throttled
from app.core.languages import mark_for_translation
from app.core.outbox import enqueue
from app.core.throttle import Rule

CODE_LIFETIME = timedelta(minutes=5)
MAX_TRIES = 5
SHORT_TERM_LIMIT = Rule("pay-codes", 3, timedelta(minutes=10))
ONE_DAY = timedelta(days=1)
DAILY_LIMIT = Rule("pay-codes-a-day", 6, ONE_DAY)
APPLICATION_LIMIT = Rule("pay-codes-of-application", 10, ONE_DAY)
MAX_WALLETS = 5
"""So many wallets can get codes for one application on a day."""
TOO_MANY_FOR_FEE = mark_for_translation("Too many codes were sent for this fee today. Try again tomorrow.")
SECONDS_LEFT_SQL = func.ceil(func.extract("epoch", StallPayment.expires_at - func.now()))
UNANSWERED_SQL: ColumnElement[bool] = (StallPayment.tries > StallPayment.answered) & (StallPayment.status != "paid")
_PAYMENT_RANK_SQL: ColumnElement[int] = case(
    (StallPayment.status == "paid", 0),
    (UNANSWERED_SQL, 1),
    (StallPayment.status.in_(UNFINISHED_PAYMENT_STATES), 2),
    else_=3,
)
CURRENT_PAYMENT_ORDER = (_PAYMENT_RANK_SQL, StallPayment.created_at.desc(), StallPayment.id.desc())
"""Puts the paid payment first, then an unanswered one, then a running one, then the newest."""
PAYMENT_STATUS_SQL: ColumnElement[str] = case((UNANSWERED_SQL, "processing"), else_=StallPayment.status)
NO_OUTCOME, MISMATCH, CONTRADICTION = "no_outcome", "mismatch", "contradiction"
SECOND_CAPTURE, APPLICATION_CLOSED, UNKNOWN_REFERENCE = "second_capture", "application_closed", "unknown_reference"
REVIEW_MESSAGES = {
    NO_OUTCOME: "The outcome of this payment is unknown after 72 hours. The service asks the rail every hour.",
    MISMATCH: "The rail reports a different amount or currency than requested. The payment does not count as paid.",
    CONTRADICTION: "The rail reports a different outcome now than before.",
    SECOND_CAPTURE: "The rail has taken the fee that was no longer due. The service asks for a refund.",
    APPLICATION_CLOSED: "The fee was taken after the application had ended. Decide with the organiser whether to"
    " refund it.",
    UNKNOWN_REFERENCE: "The rail reports a charge that this service does not know.",
}
log = structlog.get_logger(__name__)


class PaymentStatus(TypedDict):
    """A payment as its payer sees it.

    `status` is `not_required`, `due`, `starting`, `otp_required`, `processing`, `paid` or `refunded`; `expires_in` is in seconds.
    """

    status: str
    payment_id: NotRequired[str]
    wallet: NotRequired[str]
    expires_in: NotRequired[int]
    tries_left: NotRequired[int]
    last_failure: NotRequired[str]


@dataclass(frozen=True)
class CurrentPayment:
    """The payment that counts for an application, and the seconds until its code expires by the database's clock."""

    stall_payment: StallPayment
    seconds_left: int

    @property
    def status(self) -> str:
        if is_unanswered(self.stall_payment):
            return "processing"
        is_expired = self.stall_payment.status == "otp_required" and self.seconds_left <= 0
        return "expired" if is_expired else self.stall_payment.status


def is_unanswered(payment: StallPayment) -> bool:
    """Whether a confirmation may have reached the rail without a final outcome."""
    return payment.tries > payment.answered and payment.status != "paid"


def find_trial_code() -> str | None:
    """The code of every payment of a trial system, whose rail moves no money; None with any other rail."""
    return MOCK_CODE if current_app.extensions["settings"].PAYRAIL_MODE == "mock" else None


def end_open_payment(session: OrmSession, application_id: str) -> None:
    """Ends the payment that waits for its code. Raises PaymentInProgress while one is unanswered.

    The application must be locked, so that no code is confirmed meanwhile.
    """
    of_application = StallPayment.application_id == application_id
    if session.scalar(select(StallPayment.id).where(of_application, UNANSWERED_SQL).limit(1)) is not None:
        raise PaymentInProgress()
    session.execute(
        update(StallPayment)
        .where(of_application, StallPayment.status.in_(("starting", "otp_required")))
        .values(status="expired")
        .execution_options(synchronize_session=False)
    )


def find_current_payment(application_id: str, session: OrmSession | None = None) -> CurrentPayment | None:
    """The payment that counts, or the last one that failed."""
    statement = select(StallPayment, SECONDS_LEFT_SQL).where(StallPayment.application_id == application_id)
    current_query = statement.order_by(*CURRENT_PAYMENT_ORDER).limit(1).execution_options(populate_existing=True)
    row = (session or db.session).execute(current_query).first()
    return build_current_payment(row[0], row[1]) if row else None


def get_link_with_payment(token: str) -> tuple[ResolvedLink, CurrentPayment | None]:
    """A usable payment link and the current payment, in one query. Raises NotFound, LinkExpired."""
    current_id_query = (
        select(StallPayment.id)
        .where(StallPayment.application_id == Application.id)
        .order_by(*CURRENT_PAYMENT_ORDER)
        .limit(1)
    )
    statement = links.link_by_token_query(token, links.PAYMENT).add_columns(StallPayment, SECONDS_LEFT_SQL)
    statement = statement.outerjoin(
        StallPayment, StallPayment.id == current_id_query.correlate(Application).scalar_subquery()
    )
    row = db.session.execute(statement).first()
    resolved_link = links.require_active_link(links.build_resolved_link(row))
    payment, seconds_left = row[-2:] if row else (None, None)
    if not isinstance(payment, StallPayment):
        return resolved_link, None
    return resolved_link, build_current_payment(payment, cast(Decimal | None, seconds_left))


def build_current_payment(payment: StallPayment, seconds_left: Decimal | None) -> CurrentPayment:
    """A payment with the value of `SECONDS_LEFT_SQL`."""
    return CurrentPayment(payment, int(seconds_left or 0))


def build_payment_status(application: Application, current_payment: CurrentPayment | None) -> PaymentStatus:
    """The status for the payer: `due` until a payment runs, with the failure of the last one."""
    if application.amount_minor == 0 or application.waived_at is not None:
        return {"status": "not_required"}
    if application.refunded_at is not None:
        return {"status": "refunded"}
    if application.paid_at is not None and (current_payment is None or current_payment.status != "paid"):
        return {"status": "paid"}
    if current_payment is None:
        return {"status": "due"}
    payment = current_payment.stall_payment
    if current_payment.status in ("expired", "declined"):
        return {"status": "due", "last_failure": current_payment.status, "payment_id": payment.id}
    payment_status: PaymentStatus = {
        "status": current_payment.status,
        "payment_id": current_payment.stall_payment.id,
        "wallet": mask_number(current_payment.stall_payment.msisdn),
    }
    if current_payment.status == "otp_required":
        payment_status |= {"expires_in": current_payment.seconds_left, "tries_left": MAX_TRIES - payment.tries}
    return payment_status


def count_code(session: OrmSession, application_id: str, msisdn: str) -> None:
    """Counts one code to a wallet for an application, which must be locked.

    Raises Throttled over the limit of the wallet, so that its owner does not get codes all day, and over those of the
    application, so that its link does not send codes to everybody.
    """
    subjects = ((SHORT_TERM_LIMIT, msisdn), (DAILY_LIMIT, msisdn), (APPLICATION_LIMIT, application_id))
    for limit_status in throttle.hit_all(session, *subjects):
        if limit_status.exceeded:
            too_many = mark_for_translation("Too many codes were sent to this number.")
            message = TOO_MANY_FOR_FEE if limit_status.rule is APPLICATION_LIMIT else too_many
            raise Throttled(message, retry_after=limit_status.seconds)
    is_other_wallet = (StallPayment.msisdn != msisdn) & (StallPayment.created_at > func.now() - ONE_DAY)
    seconds_left = func.extract("epoch", func.min(StallPayment.created_at) + ONE_DAY - func.now())
    wallet_count, seconds = session.execute(
        select(func.count(StallPayment.msisdn.distinct()), func.ceil(seconds_left)).where(
            StallPayment.application_id == application_id, is_other_wallet
        )
    ).one()
    if wallet_count >= MAX_WALLETS:
        raise Throttled(TOO_MANY_FOR_FEE, retry_after=max(1, int(seconds)))


def add_review(session: OrmSession, reference: str, kind: str, **detail: object) -> None:
    """Adds a review and notifies the operators, unless one of that kind is open already."""
    review_id = session.scalar(
        insert(StallPaymentReview)
        .values(reference=reference, kind=kind, detail=detail)
        .on_conflict_do_nothing(index_elements=["reference", "kind"], index_where=text("resolved_at IS NULL"))
        .returning(StallPaymentReview.id)
    )
    if review_id is not None:
        log.error("stall_payment.review", reference=reference, kind=kind)
        enqueue("applications.notify_operators", review_id=review_id)


def add_review_detail(session: OrmSession, reference: str, kind: str, **detail: object) -> None:
    """Adds facts to the open review of that kind, if there is one."""
    session.execute(
        update(StallPaymentReview)
        .where(StallPaymentReview.reference == reference, StallPaymentReview.kind == kind)
        .where(StallPaymentReview.resolved_at.is_(None))
        .values(detail=StallPaymentReview.detail.concat(literal(detail, JSONB)))
        .execution_options(synchronize_session=False)
    )


def close_reviews(session: OrmSession, reference: str, note: str, *, review_ids: Sequence[int] | None = None) -> int:
    """Closes the open reviews of a reference, or only those with these ids. Returns their number."""
    conditions = [StallPaymentReview.reference == reference, StallPaymentReview.resolved_at.is_(None)]
    if review_ids is not None:
        conditions.append(StallPaymentReview.id.in_(review_ids))
    closed_rows = session.execute(
        update(StallPaymentReview)
        .where(*conditions)
        .values(resolved_at=func.now(), note=note[:500])
        .returning(StallPaymentReview.id)
        .execution_options(synchronize_session=False)
    )
    return len(closed_rows.all())
