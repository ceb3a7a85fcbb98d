"""The teams of a person in the copy of their data: what they may do where, without the other members."""

from sqlalchemy import select

from app.accounts.data_export import ExportOwner, export_part, list_rows
from app.accounts.queries import owned_organisations
from app.accounts.team_models import ApiKey, TeamInvite, TeamMember
from app.teams.queries import team_name_sql


@export_part("teams")
def export_teams(owner: ExportOwner) -> dict[str, object]:
    """Their memberships, the invitations to their verified address, and the API keys of their organisations."""
    parts = {
        "memberships": select(
            team_name_sql(TeamMember).label("team"), TeamMember.role, TeamMember.event_ids, TeamMember.created_at
        )
        .where(TeamMember.account_id == owner.account_id)
        .order_by(TeamMember.created_at),
        "invitations": select(
            team_name_sql(TeamInvite).label("team"),
            TeamInvite.role,
            TeamInvite.created_at,
            TeamInvite.ended_at,
            TeamInvite.outcome,
        )
        .where(TeamInvite.email == owner.email)
        .order_by(TeamInvite.created_at),
        "api_keys": select(ApiKey.name, ApiKey.scopes, ApiKey.created_at, ApiKey.last_used_at, ApiKey.ended_at)
        .where(ApiKey.organisation_id.in_(owned_organisations(owner.account_id)))
        .order_by(ApiKey.created_at),
    }
    rows = {name: list_rows(query) for name, query in parts.items()}
    return {name: part for name, part in rows.items() if part}
