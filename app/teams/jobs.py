"""The mail of an invitation to a team, and the end of the teams of deleted merchants and accounts."""

from sqlalchemy import delete, func, or_, select, update
from sqlalchemy.orm import Session as OrmSession

from app.accounts.account_lifecycle import on_account_retired
from app.accounts.deletion import AccountDeletion, account_deletion_check, on_account_deleted
from app.accounts.models import DELETED_DOMAIN, Account
from app.accounts.organisation_details import load_contact, load_organisation_details
from app.accounts.outgoing_mail import send_for_team
from app.accounts.permissions import MERCHANT, ORGANISER, OWNER, describe_role
from app.accounts.team_models import TeamInvite, TeamMember
from app.clients.email_templates import render_email
from app.core.db import db
from app.core.formatting import HOME, format_time
from app.core.jobs import Delivery, Run, job
from app.core.languages import use_language
from app.events.models import Event
from app.merchants.deletion_hooks import MerchantDeletion, on_merchant_deleted
from app.teams.contact_links import build_contact_url
from app.teams.errors import TeamNeedsOwner
from app.teams.queries import Team, build_join_url, team_name_sql
from app.teams.revocation import end_all_devices_and_keys, end_unused_codes_and_invitations


@job("teams.mail_invite", Delivery.AT_LEAST_ONCE, to_others=True)
def send_invite_email(run: Run, *, invite_id: str) -> None:
    """Mails an invitation while it is open."""
    row = db.session.execute(
        select(TeamInvite, team_name_sql(TeamInvite).label("team_name"), Account.name, Account.email)
        .join(Account, Account.id == TeamInvite.invited_by)
        .where(TeamInvite.id == invite_id, TeamInvite.ended_at.is_(None), TeamInvite.expires_at > func.now())
    ).first()
    if row is None:
        return
    invite, team_name, inviter, inviter_email = row
    events = db.session.scalars(
        select(Event.name).where(Event.id.in_(invite.event_ids or ())).order_by(Event.starts_at)
    )
    message = render_email(
        "team_invite",
        to=invite.email,
        key=run.key,
        sender_name=team_name,
        reply_to=inviter_email,
        name="",
        team=team_name,
        inviter=inviter,
        is_ownership=invite.role == OWNER,
        is_organisation=invite.kind == ORGANISER,
        role=describe_role(invite.role),
        events=list(events),
        until=format_time(invite.expires_at, HOME),
        url=build_join_url(invite_id),
    )
    send_for_team(invite.team_id, invite.kind, message, run=run)


@job("teams.mail_contact", Delivery.AT_LEAST_ONCE, to_others=True)
def send_contact_email(run: Run, *, organisation_id: str, email: str, language: str) -> None:
    """Mails a new contact address the link that confirms it, while it waits for that."""
    details = load_organisation_details(organisation_id)
    if details.pending_contact_email != email:
        return
    url = build_contact_url(organisation_id, email)
    with use_language(language):
        message = render_email(
            "contact_confirm",
            to=email,
            key=run.key,
            sender_name=details.name,
            reply_to=load_contact(organisation_id),
            name="",
            team=details.name,
            url=url,
        )
    send_for_team(organisation_id, ORGANISER, message, run=run)


@on_merchant_deleted
def end_team(session: OrmSession, deletion: MerchantDeletion) -> None:
    """Removes the members of a deleted merchant's team, and ends its invitations."""
    own_team = {"team_id": deletion.account_id, "kind": MERCHANT}
    ended_invites = (
        update(TeamInvite).filter_by(**own_team, ended_at=None).values(ended_at=func.now(), outcome="withdrawn")
    )
    session.execute(
        delete(TeamMember).filter_by(**own_team).add_cte(ended_invites.cte("ended_invites")),
        execution_options={"synchronize_session": False},
    )


@account_deletion_check
def check_team_owner(session: OrmSession, account_id: str) -> None:
    """Raises TeamNeedsOwner for the owner of another account's team, and for an account whose team others own: its events,
    money and mails are those of the account."""
    query = select(TeamMember.team_id, team_name_sql(TeamMember)).where(
        TeamMember.role == OWNER, or_(TeamMember.account_id == account_id, TeamMember.team_id == account_id)
    )
    owned_teams = session.execute(query).all()
    if owned_teams:
        names = ", ".join(name for _, name in owned_teams)
        raise TeamNeedsOwner(
            f"These teams need you: {names}. Pass on those that you own; for one that you passed on, ask the operators.",
            teams=[{"id": team_id, "name": name} for team_id, name in owned_teams],
        )


@on_account_deleted
def end_teams(session: OrmSession, deletion: AccountDeletion) -> None:
    """Ends the memberships of a deleted account with its open pairing codes and invitations, and its own teams with their
    devices and API keys.
    """
    account_id = deletion.account_id
    no_sync = {"synchronize_session": False}
    is_in_team = or_(TeamMember.account_id == account_id, TeamMember.team_id == account_id)
    ended_members = (
        delete(TeamMember).where(is_in_team).returning(TeamMember.kind, TeamMember.team_id, TeamMember.account_id)
    )
    for kind, team_id, member_id in session.execute(ended_members, execution_options=no_sync).all():
        if member_id == account_id:
            end_unused_codes_and_invitations(session, Team(kind, team_id), account_id)
    ended = {
        "ended_at": func.coalesce(TeamInvite.ended_at, func.now()),
        "outcome": func.coalesce(TeamInvite.outcome, "withdrawn"),
    }
    session.execute(update(TeamInvite).where(TeamInvite.team_id == account_id).values(ended), execution_options=no_sync)
    if deletion.email is not None:
        erased = {**ended, "email": f"{account_id}@{DELETED_DOMAIN}"}
        session.execute(
            update(TeamInvite).where(TeamInvite.email == deletion.email).values(erased), execution_options=no_sync
        )
    end_all_devices_and_keys(session, Team(ORGANISER, account_id))


@on_account_retired
def end_teams_of_retired_account(session: OrmSession, account_id: str) -> None:
    """Ends the same of a retired account. Invitations to its address stay, because it belongs to another person now."""
    end_teams(session, AccountDeletion(account_id, None))
