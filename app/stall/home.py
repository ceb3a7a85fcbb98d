"""Everything that a merchant's home shows, as far as the person may see it: a cashier sees no money and no applications."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from sqlalchemy import Row, func, select

from app.accounts.caller import Caller
from app.accounts.permissions import STALL_MANAGE, STALL_MONEY, STALL_OWN
from app.applications.open_events import EventToApplyTo, list_events_to_apply_to
from app.applications.own_applications import OwnApplication, list_own_applications
from app.applications.states import SUBMITTED
from app.core.db import database_now, db
from app.core.errors import NotFound
from app.crew.models import CrewMember
from app.crew.planned_shifts import AtRiskShift, list_at_risk_shifts
from app.crew.queries import RunningShift, list_running_shifts
from app.events.models import Event
from app.events.visibility import CANCELLED
from app.invitations import queries as invitation_queries
from app.invitations.models import Participation
from app.invitations.queries import INVITE_KIND, ListQuery, build_slug
from app.invitations.states import PENDING
from app.merchants.queries import MerchantAccount, load_merchant_account
from app.merchants.states import CLOSED, PAUSED
from app.payouts.queries import Availability, PayoutSummary, list_open_payouts, load_availability
from app.stall.next_step import (
    ApplicationFacts,
    InvitationFacts,
    MerchantFacts,
    NextStep,
    StallFacts,
    find_next_step,
)

COMING, RUNNING, PAST = "coming", "running", "past"
SET_UP_TIME = timedelta(hours=24)
"""How long before an event its stall can be opened on the page."""
MAX_PAST_STALLS = 10
MAX_EVENTS_TO_APPLY_TO = 5
STALL_COLUMNS = (
    "venue",
    "city",
    "timezone",
    "starts_at",
    "ends_at",
    "organiser_name",
    "stall_type",
    "floor_status",
    "stall_number",
    "has_rotating_code",
    "crew_size",
)
"""The fields of `OwnStall` that are columns of its query."""


@dataclass(frozen=True)
class OwnStall:
    """A stall of the merchant. It is running from the day before the event until its end."""

    event_id: str
    event_name: str
    venue: str
    city: str
    timezone: str
    starts_at: datetime
    ends_at: datetime
    organiser_name: str
    stall_type: str | None
    stall_number: str | None
    floor_status: str
    is_cancelled: bool
    has_rotating_code: bool
    crew_size: int
    phase: str

    @property
    def local_start(self) -> datetime:
        return self.starts_at.astimezone(ZoneInfo(self.timezone))


@dataclass(frozen=True)
class PendingInvitation:
    """An invitation that waits for an answer."""

    event_name: str
    starts_at: datetime
    timezone: str
    expires_at: datetime
    path: str


@dataclass(frozen=True)
class Money:
    """The balance, and the payouts for which a part of it is held."""

    availability: Availability
    open_payouts: Sequence[PayoutSummary]

    @property
    def is_used(self) -> bool:
        """Whether there is a balance, or a payout under way."""
        return bool(self.availability["balance_minor"] or self.open_payouts)


@dataclass(frozen=True)
class StallHome:
    """The home of a merchant. `money` is None, and applications and invitations are empty, for who may not see them.

    `events_to_apply_to` is for who has no stall, invitation or application under way.
    """

    next_step: NextStep
    merchant: MerchantAccount
    stalls: Sequence[OwnStall]
    running_shifts: Sequence[RunningShift]
    at_risk_shifts: Sequence[AtRiskShift]
    invitations: Sequence[PendingInvitation]
    applications: Sequence[OwnApplication]
    money: Money | None
    events_to_apply_to: Sequence[EventToApplyTo]
    may_manage: bool
    is_owner: bool

    @property
    def is_paused(self) -> bool:
        return self.merchant["status"] == PAUSED

    def list_stalls(self, phase: str) -> list[OwnStall]:
        return [stall for stall in self.stalls if stall.phase == phase]


def load_stall_home(caller: Caller) -> StallHome:
    """The home of the caller's merchant."""
    merchant_id, now = caller.merchant_id, database_now()
    may_manage = _has_permission(caller, STALL_MANAGE)
    may_see_money, is_owner = _has_permission(caller, STALL_MONEY), _has_permission(caller, STALL_OWN)
    merchant = load_merchant_account(caller)
    stalls = list_own_stalls(caller, now)
    invitations = _list_pending_invitations(caller) if may_manage else []
    applications = list_own_applications(merchant_id) if may_manage else []
    money = Money(load_availability(caller), list_open_payouts(caller)) if may_see_money else None
    facts = MerchantFacts(
        now=now,
        is_address_confirmed=caller.email_verified or not may_manage,
        is_paused=merchant["status"] == PAUSED,
        may_resume=is_owner,
        may_manage=may_manage,
        applications=[_build_application_facts(row) for row in applications if row.is_under_way],
        invitations=[InvitationFacts(row.event_name, row.path) for row in invitations],
        stalls=[_build_stall_facts(stall) for stall in stalls if stall.phase != PAST],
        available_minor=money.availability["available_minor"] if money else 0,
        held_minor=money.availability["held_minor"] if money else 0,
        has_destination=bool(merchant["payout_details"]) or not is_owner,
    )
    may_apply = may_manage and facts.is_address_confirmed and not facts.is_paused
    has_nothing = not (facts.applications or facts.invitations or facts.stalls)
    return StallHome(
        next_step=find_next_step(facts),
        events_to_apply_to=list_events_to_apply_to(MAX_EVENTS_TO_APPLY_TO) if may_apply and has_nothing else [],
        merchant=merchant,
        stalls=stalls,
        running_shifts=list_running_shifts(merchant_id),
        at_risk_shifts=list_at_risk_shifts(merchant_id),
        invitations=invitations,
        applications=applications,
        money=money,
        may_manage=may_manage,
        is_owner=is_owner,
    )


def list_own_stalls(caller: Caller, now: datetime) -> list[OwnStall]:
    """The stalls of the caller's merchant: running and coming ones by their start, then past ones, the latest first."""
    statement = _stalls_query(caller)
    current_rows = db.session.execute(statement.where(Event.ends_at > now).order_by(Event.starts_at, Event.id))
    past_rows = db.session.execute(
        statement.where(Event.ends_at <= now).order_by(Event.ends_at.desc(), Event.id).limit(MAX_PAST_STALLS)
    )
    return [_build_stall(row, now) for row in (*current_rows, *past_rows)]


def get_own_stall(caller: Caller, event_id: str) -> OwnStall:
    """The stall of the caller's merchant at an event. Raises NotFound."""
    row = db.session.execute(_stalls_query(caller).where(Event.id == event_id)).first()
    if row is None:
        raise NotFound()
    return _build_stall(row, database_now())


def _stalls_query(caller: Caller) -> ListQuery:
    crew_size = (
        select(func.count())
        .where(
            CrewMember.merchant_id == Participation.merchant_id,
            CrewMember.event_id == Participation.event_id,
            CrewMember.retired_at.is_(None),
        )
        .scalar_subquery()
    )
    return invitation_queries.list_own_events_query(caller).add_columns(
        Participation.stall_number,
        Participation.check_in_secret.is_not(None).label("has_rotating_code"),
        crew_size.label("crew_size"),
    )


def _build_stall(row: Row[*tuple[object, ...]], now: datetime) -> OwnStall:
    values = row._asdict()
    is_cancelled = values["visibility"] == CANCELLED
    return OwnStall(
        event_id=values["id"],
        event_name=values["name"],
        **{name: values[name] for name in STALL_COLUMNS},
        is_cancelled=is_cancelled,
        phase=_find_phase(is_cancelled, values["starts_at"], values["ends_at"], now),
    )


def _find_phase(is_cancelled: bool, starts_at: datetime, ends_at: datetime, now: datetime) -> str:
    """The phase of an event; one that was cancelled is past."""
    if is_cancelled or ends_at <= now:
        return PAST
    return RUNNING if starts_at - SET_UP_TIME <= now else COMING


def _list_pending_invitations(caller: Caller) -> list[PendingInvitation]:
    statement = invitation_queries.list_own_invites_query(caller, status=PENDING)
    return [
        PendingInvitation(
            row.event_name,
            row.starts_at,
            row.timezone,
            row.expires_at,
            f"/merchant-invite/{build_slug(row.id, INVITE_KIND)}",
        )
        for row in db.session.execute(statement.order_by(Event.starts_at, Event.id))
    ]


def _build_application_facts(application: OwnApplication) -> ApplicationFacts:
    return ApplicationFacts(
        application.event_name,
        {purpose: path for purpose, path in application.paths.items() if purpose in application.due_purposes},
        is_awaiting_decision=application.status == SUBMITTED,
        is_payment_processing="processing" in application.payment_states,
    )


def _build_stall_facts(stall: OwnStall) -> StallFacts:
    return StallFacts(
        stall.event_id,
        stall.event_name,
        stall.timezone,
        stall.starts_at,
        is_closed=stall.floor_status == CLOSED,
        crew_size=stall.crew_size,
    )


def _has_permission(caller: Caller, permission: str) -> bool:
    return caller.for_permission(permission).grant.merchant_id == caller.merchant_id
