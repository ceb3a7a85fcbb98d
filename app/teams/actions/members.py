"""Inviting, changing and removing members, and passing the ownership on.

All changes of a team wait for each other by a lock of its name. A membership is read with every request, so a change
counts from the next request on.
"""

from datetime import timedelta

from sqlalchemy import delete, exists, func, or_, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session

from app.accounts.account_lifecycle import lock_own_account
from app.accounts.authentication import confirm_owner
from app.accounts.caller import Caller
from app.accounts.models import Account
from app.accounts.outgoing_mail import count_mails, enqueue_notice, load_sender
from app.accounts.permissions import MANAGER, ORGANISER, OWNER, ROLES
from app.accounts.team_models import TeamInvite, TeamMember
from app.audit.actions import Action
from app.core.errors import LinkExpired, NotFound, ValidationFailed
from app.core.ids import new_id
from app.core.outbox import enqueue
from app.core.tokens import fingerprint
from app.core.transaction import transaction
from app.teams import queries, revocation
from app.teams.errors import AlreadyMember, InviteForAnotherAddress, OwnerRoleFixed, TeamFull
from app.teams.queries import Team, is_in_team, lock_team
from app.teams.revocation import Removal, end_invitation, record_team_act

INVITE_LIFETIME = timedelta(days=7)
MAX_MEMBERS = 200


def invite_member(
    *, caller: Caller, team: Team, email: str, role: str, event_ids: list[str] | None = None
) -> TeamInvite:
    """Mail an invitation; a new one to the same address replaces the old one.

    `event_ids` limits the role to these events of an organisation. Raises ValidationFailed, AlreadyMember, TeamFull,
    SenderNotVerified, MailLimitReached.
    """
    if role == OWNER or role not in ROLES[team.kind]:
        raise ValidationFailed.of(
            "role", "unknown_value", "Choose a role of this team; the ownership is offered instead."
        )
    with transaction() as session:
        lock_team(session, team)
        _check_events(session, team, event_ids)
        if session.scalar(select(queries.is_team_address(team, email))):
            raise AlreadyMember()
        _check_size(session, team)
        return _create_invite(session, caller, team, email, role, event_ids)


def offer_ownership(*, caller: Caller, team: Team, member_id: str, password: str | None) -> TeamInvite:
    """Offer a member the ownership by mail; it passes when they accept. The owner confirms by their password or a
    recent sign-in.

    Only organisations can be passed on. Raises NotFound, ConfirmationRequired, CurrentPasswordWrong, Throttled.
    """
    if team.kind != ORGANISER:
        raise NotFound()
    confirm_owner(caller, password)
    with transaction() as session:
        lock_team(session, team)
        member = _get_member(session, team, member_id)
        email = session.scalars(select(Account.email).where(Account.id == member.account_id)).one()
        return _create_invite(session, caller, team, email, OWNER, None)


def accept_invite(*, caller: Caller, token: str) -> Team:
    """Join the team of an invitation, or take over its ownership. Repeating it is LinkUsed.

    Raises NotFound, LinkExpired, LinkUsed, InviteForAnotherAddress, OwnerRoleFixed for the present owner.
    """
    with transaction() as session:
        unlocked, _ = queries.find_invite(session, token)
        team = Team(unlocked.kind, unlocked.team_id)
        lock_team(session, team)
        # Before the invitation, as a deletion does, and in the order of their ids, because two people may pass
        # organisations to each other.
        both = select(Account.id).where(Account.id.in_([caller.id, unlocked.invited_by])).order_by(Account.id)
        session.execute(both.with_for_update())
        invite, team_name = queries.find_invite(session, token, lock=True)
        if invite.email != caller.email or not caller.email_verified:
            raise InviteForAnotherAddress()
        lock_own_account(session, caller, LinkExpired)
        owner_id = queries.find_owner_id(session, team)
        if owner_id == caller.id:
            raise OwnerRoleFixed()
        if invite.role == OWNER:
            _take_over(session, team, invite, caller.id)
        else:
            _set_membership(session, team, caller.id, invite.role, invite.event_ids, invited_by=invite.invited_by)
        end_invitation(invite, "accepted")
        record_team_act(session, Action.MEMBER_JOINED, team, invite.id, account=caller.id, role=invite.role)
        enqueue_notice(
            "team_joined", owner_id, person=caller.name, email=caller.email, role=invite.role, team=team_name
        )
    return team


def change_member(
    *, team: Team, member_id: str, role: str | None = None, event_ids: list[str] | None = None, all_events: bool = False
) -> TeamMember:
    """Change the role or the events of a member; `all_events` lifts the limit to some events.

    Raises NotFound, OwnerRoleFixed, ValidationFailed.
    """
    with transaction() as session:
        lock_team(session, team)
        member = _get_member(session, team, member_id)
        _check_events(session, team, event_ids)
        if role is not None:
            member.role = role
        if event_ids is not None or all_events:
            member.event_ids = event_ids
        session.flush()
        revocation.end_unused_codes(session, team, member.account_id)
        revocation.end_offer(session, team, member.account_id)
        record_team_act(
            session,
            Action.MEMBER_CHANGED,
            team,
            member.id,
            account=member.account_id,
            role=member.role,
            eventIds=member.event_ids,
        )
    return member


def remove_member(*, team: Team, member_id: str, end_devices_and_keys: bool = False) -> Removal:
    """Remove a member, or withdraw an invitation. Devices and keys that the member made belong to the organisation and
    work on, unless `end_devices_and_keys` ends them too.

    Raises NotFound, OwnerRoleFixed.
    """
    with transaction() as session:
        lock_team(session, team)
        invite = session.scalar(
            select(TeamInvite).where(
                TeamInvite.id == member_id, TeamInvite.team_id == team.id, TeamInvite.kind == team.kind
            )
        )
        if invite is not None:
            if invite.ended_at is None:
                end_invitation(invite, "withdrawn")
                record_team_act(session, Action.MEMBER_INVITE_WITHDRAWN, team, invite.id)
            return Removal(was_invited=True)
        member = _get_member(session, team, member_id)
        _end_membership(session, team, member)
        ended = revocation.end_devices_and_keys(session, team, member.account_id) if end_devices_and_keys else (0, 0)
        working = queries.count_working_access(team, member.account_id, session)
        return Removal(*working, *ended)


def leave_team(*, caller: Caller, membership_id: str) -> None:
    """End one's own membership. Raises NotFound, OwnerRoleFixed."""
    with transaction() as session:
        own = (TeamMember.id == membership_id, TeamMember.account_id == caller.id)
        row = session.execute(select(TeamMember.kind, TeamMember.team_id).where(*own)).first()
        if row is None:
            raise NotFound()
        team = Team(*row)
        lock_team(session, team)
        member = session.scalar(select(TeamMember).where(*own).with_for_update())
        if member is None:
            raise NotFound()
        if member.role == OWNER:
            raise OwnerRoleFixed()
        _end_membership(session, team, member)


def _end_membership(session: Session, team: Team, member: TeamMember) -> None:
    """End a membership with the unused pairing codes and the open invitations of its person."""
    revocation.end_offer(session, team, member.account_id)
    session.delete(member)
    session.flush()
    record_team_act(session, Action.MEMBER_REMOVED, team, member.id, account=member.account_id)
    revocation.end_unused_codes_and_invitations(session, team, member.account_id)


def _get_member(session: Session, team: Team, member_id: str) -> TeamMember:
    """A member whose role may change. Raises NotFound, OwnerRoleFixed."""
    if session.scalar(select(exists().where(Account.id == member_id, queries.owns_own_team(team)))):
        raise OwnerRoleFixed()
    member = session.scalar(select(TeamMember).where(TeamMember.id == member_id, is_in_team(team)).with_for_update())
    if member is None:
        raise NotFound()
    if member.role == OWNER:
        raise OwnerRoleFixed()
    return member


def _check_events(session: Session, team: Team, event_ids: list[str] | None) -> None:
    known = set(session.scalars(queries.select_own_events(team, event_ids))) if event_ids else set()
    if unknown := [number for number, event_id in enumerate(event_ids or ()) if event_id not in known]:
        raise ValidationFailed.of(f"eventIds[{unknown[0]}]", "unknown_event", "This is no event of the organisation.")


def _check_size(session: Session, team: Team) -> None:
    members = select(func.count()).where(is_in_team(team)).scalar_subquery()
    invites = (
        select(func.count())
        .where(TeamInvite.team_id == team.id, TeamInvite.kind == team.kind, TeamInvite.ended_at.is_(None))
        .scalar_subquery()
    )
    if session.scalars(select(members + invites)).one() >= MAX_MEMBERS:
        raise TeamFull()


def _create_invite(
    session: Session, caller: Caller, team: Team, email: str, role: str, event_ids: list[str] | None
) -> TeamInvite:
    session.execute(
        update(TeamInvite)
        .where(
            TeamInvite.team_id == team.id,
            TeamInvite.kind == team.kind,
            TeamInvite.ended_at.is_(None),
            or_(TeamInvite.email == email, TeamInvite.role == OWNER) if role == OWNER else TeamInvite.email == email,
        )
        .values(ended_at=func.now(), outcome="replaced")
        .execution_options(synchronize_session=False)
    )
    count_mails(session, load_sender(session, team.id, team.kind), [email])
    invite_id = new_id()
    invite = TeamInvite(
        id=invite_id,
        team_id=team.id,
        kind=team.kind,
        email=email,
        role=role,
        event_ids=event_ids,
        token_hash=fingerprint(queries.build_invite_token(invite_id)),
        invited_by=caller.id,
        expires_at=func.now() + INVITE_LIFETIME,
    )
    session.add(invite)
    session.flush()
    session.refresh(invite)
    record_team_act(session, Action.MEMBER_INVITED, team, invite_id, role=role, eventIds=event_ids)
    enqueue("teams.mail_invite", invite_id=invite_id)
    return invite


def _take_over(session: Session, team: Team, invite: TeamInvite, account_id: str) -> None:
    """Make a member the owner. Raises LinkExpired when they are no member, NotFound when the owner has changed."""
    if not session.scalar(select(exists().where(is_in_team(team), TeamMember.account_id == account_id))):
        raise LinkExpired()
    _make_manager(session, team, invite.invited_by)
    revocation.end_unused_codes_and_invitations(session, team, invite.invited_by, except_invite_id=invite.id)
    if account_id == team.id:
        _return_to_founder(session, team)
    else:
        _set_membership(session, team, account_id, OWNER, None, invited_by=invite.invited_by)


def _make_manager(session: Session, team: Team, owner_id: str) -> None:
    """Make the owner a manager. Raises NotFound when they are not the owner."""
    former_owner = update(TeamMember).where(
        is_in_team(team), TeamMember.account_id == owner_id, TeamMember.role == OWNER
    )
    no_sync = {"synchronize_session": False}
    if session.execute(former_owner.values(role=MANAGER, event_ids=None), execution_options=no_sync).rowcount:  # type: ignore[attr-defined]
        return
    founder = update(Account).where(Account.id == owner_id, queries.owns_own_team(team))
    values = {"roles": func.array_remove(Account.roles, team.kind), "version": Account.version + 1}
    if not session.execute(founder.values(values), execution_options=no_sync).rowcount:  # type: ignore[attr-defined]
        raise NotFound()
    _set_membership(session, team, owner_id, MANAGER, None, invited_by=None)


def _return_to_founder(session: Session, team: Team) -> None:
    """Make the organisation its founder's own again, who owns it by the role of their account."""
    founder = session.get_one(Account, team.id)
    founder.roles, founder.version = [*founder.roles, team.kind], founder.version + 1
    session.execute(
        delete(TeamMember).where(is_in_team(team), TeamMember.account_id == team.id),
        execution_options={"synchronize_session": False},
    )


def _set_membership(
    session: Session, team: Team, account_id: str, role: str, event_ids: list[str] | None, *, invited_by: str | None
) -> None:
    statement = insert(TeamMember).values(
        id=new_id(),
        team_id=team.id,
        kind=team.kind,
        account_id=account_id,
        role=role,
        event_ids=event_ids,
        invited_by=invited_by,
    )
    session.execute(
        statement.on_conflict_do_update(
            index_elements=["account_id", "team_id", "kind"], set_={"role": role, "event_ids": event_ids}
        )
    )
