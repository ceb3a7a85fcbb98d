"""Reads of teams, and the checks that several actions share."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from flask import current_app
from sqlalchemy import ColumnElement, Select, and_, exists, func, literal, null, or_, select
from sqlalchemy.orm import Session, joinedload

from app.accounts.caller import Caller
from app.accounts.models import Account, OrganiserProfile
from app.accounts.organisation_details import DETAIL_COLUMNS, build_details
from app.accounts.permissions import MERCHANT, ORGANISER, OWNER
from app.accounts.queries import may_in_organisation, owner_id_sql
from app.accounts.team_models import ApiKey, TeamInvite, TeamMember
from app.core.db import ObjectId, db
from app.core.errors import LinkExpired, LinkUsed, NotFound
from app.core.tokens import derived_text, fingerprint
from app.core.transaction import lock_name
from app.events.models import Event
from app.events.queries import get_event
from app.merchants.models import MerchantProfile
from app.teams.models import Device

# The query of a device's token has the same time (app/accounts/sql.py).
DEVICE_LIFETIME_AFTER_EVENT = timedelta(hours=48)


class Team(NamedTuple):
    """A team: its kind, and the account of the organiser or merchant that it belongs to."""

    kind: str
    id: str


@dataclass(frozen=True, kw_only=True)
class Member:
    """A member of a team. The owner of their own team has the id of their account."""

    id: str
    account_id: str
    name: str
    email: str
    role: str
    event_ids: list[str] | None
    since: datetime
    has_second_factor: bool


@dataclass(frozen=True, kw_only=True)
class Invitation:
    """An invitation as the person who got it sees it."""

    id: str
    kind: str
    team_name: str
    email: str
    role: str
    event_names: list[str]
    expires_at: datetime


@dataclass(frozen=True, kw_only=True)
class MembershipDetails:
    """A membership as its person sees it. `event_names` are those of `event_ids`."""

    id: str
    team_id: str
    kind: str
    team_name: str
    role: str
    event_ids: list[str] | None
    event_names: list[str]


def get_organisation(caller: Caller) -> Team:
    """The organisation for which the caller acts."""
    return Team(ORGANISER, caller.organisation_id)


def load_organisation(organisation: Team) -> dict[str, object]:
    """Name, details and settings of an organisation. Raises NotFound without a profile, as for an admin's own events."""
    columns: tuple[Any, ...] = (OrganiserProfile.requires_second_factor, OrganiserProfile.org_name, *DETAIL_COLUMNS)
    row = db.session.execute(select(*columns).where(OrganiserProfile.account_id == organisation.id)).first()
    if row is None:
        raise NotFound()
    details = vars(build_details(*row[1:]))
    return {"id": organisation.id, "requires_second_factor": row[0], **details}


def get_merchant_team(caller: Caller) -> Team:
    """The merchant's team of the caller."""
    return Team(MERCHANT, caller.merchant_id)


def list_members(team: Team) -> list[Member]:
    """The members of a team, the owner first, then by name."""
    has_second_factor = Account.second_factor_since.is_not(None)
    own = db.session.execute(
        select(Account.id, Account.name, Account.email, Account.created_at, has_second_factor).where(
            owns_own_team(team)
        )
    ).all()
    members = db.session.execute(
        select(TeamMember, Account.name, Account.email, has_second_factor)
        .join(Account, Account.id == TeamMember.account_id)
        .where(is_in_team(team))
        .order_by(TeamMember.role != OWNER, Account.name, TeamMember.id)
    ).all()
    return [
        *(
            Member(
                id=id,
                account_id=id,
                name=name,
                email=email,
                role=OWNER,
                event_ids=None,
                since=since,
                has_second_factor=secured,
            )
            for id, name, email, since, secured in own
        ),
        *(
            Member(
                id=member.id,
                account_id=member.account_id,
                name=name,
                email=email,
                role=member.role,
                event_ids=member.event_ids,
                since=member.created_at,
                has_second_factor=secured,
            )
            for member, name, email, secured in members
        ),
    ]


def list_open_invites(team: Team) -> list[TeamInvite]:
    """The invitations of a team that nobody has answered, newest first; expired ones too."""
    statement = select(TeamInvite).where(TeamInvite.team_id == team.id, TeamInvite.kind == team.kind)
    return list(db.session.scalars(statement.where(TeamInvite.ended_at.is_(None)).order_by(TeamInvite.id.desc())))


def list_memberships(caller: Caller) -> list[MembershipDetails]:
    """The teams of others in which the caller has a role."""
    rows = db.session.execute(
        select(TeamMember, team_name_sql(TeamMember))
        .where(TeamMember.account_id == caller.id)
        .order_by(TeamMember.created_at, TeamMember.id)
    ).all()
    event_ids = {event_id for member, _ in rows for event_id in member.event_ids or ()}
    statement = select(Event.id, Event.name).where(Event.id.in_(event_ids))
    names = {event.id: event.name for event in db.session.execute(statement)} if event_ids else {}
    return [
        MembershipDetails(
            id=member.id,
            team_id=member.team_id,
            kind=member.kind,
            team_name=name,
            role=member.role,
            event_ids=member.event_ids,
            event_names=sorted(names[event_id] for event_id in member.event_ids or () if event_id in names),
        )
        for member, name in rows
    ]


def list_own_teams(caller: Caller) -> list[tuple[str, str]]:
    """The kind and the name of the teams that belong to the caller's account."""
    return [(kind, load_team_name(Team(kind, caller.id))) for kind in (ORGANISER, MERCHANT) if kind in caller.roles]


def load_team_name(team: Team) -> str:
    """The name of the organisation or business, or else of its account."""
    names = {
        ORGANISER: select(OrganiserProfile.org_name).where(OrganiserProfile.account_id == team.id),
        MERCHANT: select(MerchantProfile.business_name).where(MerchantProfile.account_id == team.id),
    }
    account_name = select(Account.name).where(Account.id == team.id)
    name: str = db.session.scalar(
        select(func.coalesce(names[team.kind].scalar_subquery(), account_name.scalar_subquery()))
    )
    return name


def get_invitation(token: str) -> Invitation:
    """The invitation of a link. Raises NotFound, LinkExpired, LinkUsed."""
    invite, team_name = find_invite(db.session(), token)
    names = db.session.scalars(select(Event.name).where(Event.id.in_(invite.event_ids or ())).order_by(Event.starts_at))
    return Invitation(
        id=invite.id,
        kind=invite.kind,
        team_name=team_name,
        email=invite.email,
        role=invite.role,
        event_names=list(names),
        expires_at=invite.expires_at,
    )


def find_invite(session: Session, token: str, *, lock: bool = False) -> tuple[TeamInvite, str]:
    """The open invitation of a link and the name of its team. Raises NotFound, LinkExpired, LinkUsed."""
    is_expired = TeamInvite.expires_at <= func.now()
    statement = select(TeamInvite, team_name_sql(TeamInvite), is_expired).where(
        TeamInvite.token_hash == fingerprint(token)
    )
    if lock:
        statement = statement.with_for_update(of=TeamInvite).execution_options(populate_existing=True)
    row = session.execute(statement).first()
    if row is None:
        raise NotFound()
    invite: TeamInvite = row[0]
    if invite.outcome == "accepted":
        raise LinkUsed()
    if invite.ended_at is not None or row[2]:
        raise LinkExpired()
    return invite, row[1]


def build_invite_token(invite_id: str) -> str:
    """The token of an invitation's link; the same each time, so that the mail can be made again."""
    return derived_text("team-invite", invite_id)


def build_join_url(invite_id: str) -> str:
    base_url: str = current_app.extensions["settings"].PUBLIC_BASE_URL
    return f"{base_url}/join/{build_invite_token(invite_id)}"


def get_device(caller: Caller, event_id: str, device_id: str) -> Device:
    """A device of the event that has not ended. Raises NotFound."""
    for device in list_devices(caller, event_id):
        if device.id == device_id:
            return device
    raise NotFound()


def list_devices(caller: Caller, event_id: str) -> list[Device]:
    """The devices of an event that have not ended, newest first. Raises NotFound."""
    event = get_event(caller, event_id)
    statement = select(Device).where(Device.event_id == event.id, Device.ended_at.is_(None))
    statement = statement.options(joinedload(Device.creator))
    return list(db.session.scalars(statement.order_by(Device.created_at.desc(), Device.id.desc())))


def list_api_keys(organisation: Team) -> list[ApiKey]:
    """The keys of an organisation that have not been ended, newest first."""
    statement = select(ApiKey).where(ApiKey.organisation_id == organisation.id, ApiKey.ended_at.is_(None))
    statement = statement.options(joinedload(ApiKey.creator))
    return list(db.session.scalars(statement.order_by(ApiKey.created_at.desc(), ApiKey.id.desc())))


def count_working_access(team: Team, account_id: str, session: Session | None = None) -> tuple[int, int]:
    """How many devices and API keys that this person made for the organisation work."""
    if team.kind != ORGANISER:
        return 0, 0
    lasts = Event.ends_at > func.now() - DEVICE_LIFETIME_AFTER_EVENT
    devices = (
        select(func.count())
        .select_from(Device)
        .join(Event, Event.id == Device.event_id)
        .where(Event.organiser_id == team.id, Device.created_by == account_id, lasts)
        .where(Device.ended_at.is_(None), Device.paired_at.is_not(None))
    )
    is_current = or_(ApiKey.expires_at.is_(None), ApiKey.expires_at > func.now())
    keys = select(func.count()).where(
        ApiKey.organisation_id == team.id, ApiKey.created_by == account_id, ApiKey.ended_at.is_(None), is_current
    )
    counts = select(devices.scalar_subquery(), keys.scalar_subquery())
    device_count, key_count = (session or db.session).execute(counts).one()
    return device_count, key_count


def lock_team(session: Session, team: Team) -> None:
    """Lets all changes of a team happen one after the other, until the transaction ends."""
    lock_name(session, f"team:{team.kind}:{team.id}")


def lock_permitted_team(
    session: Session, caller: Caller, organisation_id: str, permission: str, event_id: str | None = None
) -> None:
    """Locks an organisation for a caller who adds something to it that works without them.

    Raises NotFound if they have lost the permission since the request began: they were removed meanwhile.
    """
    lock_team(session, Team(ORGANISER, organisation_id))
    event = null() if event_id is None else literal(event_id, ObjectId)
    may_add = may_in_organisation(permission, literal(organisation_id, ObjectId), event)
    if not session.scalar(select(exists().where(Account.id == caller.id, may_add))):
        raise NotFound()


def find_owner_id(session: Session, team: Team) -> str:
    """The account of the present owner: the member to whom the team was passed on, or else its founder."""
    owner_id = owner_id_sql(literal(team.id)) if team.kind == ORGANISER else literal(team.id)
    return session.scalars(select(owner_id)).one()


def owns_own_team(team: Team) -> ColumnElement[bool]:
    """True for the account of the team while its ownership has not been passed on."""
    return and_(Account.id == team.id, Account.roles.contains([team.kind]))


def is_in_team(team: Team) -> ColumnElement[bool]:
    """True for the members of the team."""
    return and_(TeamMember.team_id == team.id, TeamMember.kind == team.kind)


def is_team_address(team: Team, email: str) -> ColumnElement[bool]:
    """Whether the address belongs to the owner or to a member of the team."""
    is_member = exists().where(is_in_team(team), TeamMember.account_id == Account.id).correlate(Account)
    return exists().where(Account.email == email, owns_own_team(team) | is_member)


def team_name_sql(row: type[TeamMember] | type[TeamInvite]) -> ColumnElement[str]:
    """The name of a team: of the organisation or business, or else of the account."""
    organisation = select(OrganiserProfile.org_name).where(
        OrganiserProfile.account_id == row.team_id, row.kind == ORGANISER
    )
    business = select(MerchantProfile.business_name).where(
        MerchantProfile.account_id == row.team_id, row.kind == MERCHANT
    )
    account = select(Account.name).where(Account.id == row.team_id).correlate_except(Account)
    return func.coalesce(organisation.scalar_subquery(), business.scalar_subquery(), account.scalar_subquery())


def select_own_events(team: Team, event_ids: list[str]) -> Select[str]:
    """The events of the organisation among these ids."""
    return select(Event.id).where(Event.id.in_(event_ids), Event.organiser_id == team.id)
