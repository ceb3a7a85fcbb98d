"""Ends what a person made for a team: pairing codes and invitations when they lose the permission, and devices and API
keys when the owner wants it, because these belong to the organisation and work on without the person.

Actions lock the team before they call these functions.
"""

from collections import defaultdict
from dataclasses import dataclass

from sqlalchemy import ColumnElement, exists, func, select, update
from sqlalchemy.orm import Session

from app.accounts.models import Account
from app.accounts.permissions import DEVICES, ORGANISER, OWNER
from app.accounts.queries import may_in_organisation
from app.accounts.team_models import ApiKey, TeamInvite
from app.audit.actions import Action
from app.audit.log import record, record_many
from app.events.models import Event
from app.teams.models import Device
from app.teams.queries import Team

NO_SYNC = {"synchronize_session": False}


@dataclass(frozen=True)
class Removal:
    """How many devices and API keys of a removed person still work, and how many the removal has ended.

    `was_invited` if they had not joined yet.
    """

    working_devices: int = 0
    working_api_keys: int = 0
    ended_devices: int = 0
    ended_api_keys: int = 0
    was_invited: bool = False


def may_creator_add_devices() -> ColumnElement[bool]:
    """True for a device whose creator may still add devices to its event."""
    may_add = may_in_organisation(DEVICES, Event.organiser_id, Event.id)
    return exists().where(Event.id == Device.event_id, Account.id == Device.created_by, may_add)


def end_unused_codes_and_invitations(
    session: Session, team: Team, account_id: str, *, except_invite_id: str = ""
) -> None:
    """Ends the unused pairing codes and the open invitations of a person who has left the team or is no longer its
    owner."""
    end_unused_codes(session, team, account_id)
    _end_invitations(session, team, TeamInvite.invited_by == account_id, TeamInvite.id != except_invite_id)


def end_offer(session: Session, team: Team, account_id: str) -> None:
    """Ends an open offer of the ownership to a member whose role has changed, or who has left."""
    address = select(Account.email).where(Account.id == account_id).scalar_subquery()
    _end_invitations(session, team, TeamInvite.role == OWNER, TeamInvite.email == address)


def _end_invitations(session: Session, team: Team, *conditions: ColumnElement[bool]) -> None:
    open_invites = update(TeamInvite).where(
        TeamInvite.team_id == team.id, TeamInvite.kind == team.kind, TeamInvite.ended_at.is_(None), *conditions
    )
    ended = open_invites.values(ended_at=func.now(), outcome="withdrawn").returning(TeamInvite.id)
    for invite_id in session.scalars(ended, execution_options=NO_SYNC).all():
        record_team_act(session, Action.MEMBER_INVITE_WITHDRAWN, team, invite_id)


def end_unused_codes(session: Session, team: Team, account_id: str) -> None:
    """Ends the unused pairing codes of a person for the events to which they may no longer add devices."""
    _end_devices(session, team, Device.created_by == account_id, Device.paired_at.is_(None), ~may_creator_add_devices())


def end_devices_and_keys(session: Session, team: Team, account_id: str) -> tuple[int, int]:
    """Ends the devices and API keys that a person made; returns how many of each."""
    devices = _end_devices(session, team, Device.created_by == account_id)
    return devices, _end_keys(session, team, ApiKey.created_by == account_id)


def end_all_devices_and_keys(session: Session, organisation: Team) -> None:
    """Ends all devices and API keys of an organisation."""
    _end_devices(session, organisation)
    _end_keys(session, organisation)


def end_invitation(invite: TeamInvite, outcome: str) -> None:
    """Ends an invitation: it was accepted, or withdrawn."""
    invite.ended_at, invite.outcome = func.now(), outcome


def record_team_act(
    session: Session, action: Action, team: Team, subject: str, *, account: str | None = None, **data: object
) -> None:
    """Records an act for the organisation, or for the merchant of the team."""
    is_organisation = team.kind == ORGANISER
    record(
        session,
        action,
        organisation_id=team.id if is_organisation else None,
        account_id=account if is_organisation else team.id,
        subject=subject,
        data=data if is_organisation else {**data, "account": account},
    )


def _end_devices(session: Session, team: Team, *conditions: ColumnElement[bool]) -> int:
    if team.kind != ORGANISER:
        return 0
    events = select(Event.id).where(Event.organiser_id == team.id)
    ended = update(Device).where(Device.event_id.in_(events), Device.ended_at.is_(None), *conditions)
    returned = ended.values(ended_at=func.now(), pairing_hash=None).returning(Device.event_id, Device.id)
    devices_by_event: dict[str, list[str | None]] = defaultdict(list)
    for event_id, device_id in session.execute(returned, execution_options=NO_SYNC).all():
        devices_by_event[event_id].append(device_id)
    for event_id, device_ids in devices_by_event.items():
        record_many(session, Action.DEVICE_ENDED, device_ids, event_id=event_id)
    return sum(map(len, devices_by_event.values()))


def _end_keys(session: Session, team: Team, *conditions: ColumnElement[bool]) -> int:
    if team.kind != ORGANISER:
        return 0
    ended = update(ApiKey).where(ApiKey.organisation_id == team.id, ApiKey.ended_at.is_(None), *conditions)
    returned = ended.values(ended_at=func.now()).returning(ApiKey.id)
    key_ids = session.scalars(returned, execution_options=NO_SYNC).all()
    record_many(session, Action.API_KEY_ENDED, key_ids, organisation_id=team.id)
    return len(key_ids)
