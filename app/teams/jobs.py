"""The mail of an invitation to a team, and the end of a deleted merchant's team."""

from sqlalchemy import delete, func, select, update
from sqlalchemy.orm import Session as OrmSession

from app.accounts.models import Account
from app.accounts.outgoing_mail import send_for_account
from app.accounts.permissions import MERCHANT, ORGANISER, OWNER, describe_role
from app.accounts.team_models import TeamInvite, TeamMember
from app.clients.email_templates import render_email
from app.core.db import db
from app.core.formatting import format_time
from app.core.jobs import Delivery, Run, job
from app.events.models import Event
from app.merchants.deletion_hooks import MerchantDeletion, on_merchant_deleted
from app.teams.queries import build_join_url, team_name_sql

HOME_ZONE = "Africa/Windhoek"


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
        until=format_time(invite.expires_at, HOME_ZONE),
        url=build_join_url(invite_id),
    )
    send_for_account(invite.team_id, message, run=run)


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
