"""API keys of an organisation."""

from datetime import datetime

from flask import current_app
from sqlalchemy import func, select

from app.accounts.authentication import confirm_owner
from app.accounts.caller import Caller
from app.accounts.outgoing_mail import enqueue_notice
from app.accounts.permissions import KEYS
from app.accounts.queries import KEY_PREFIXES
from app.accounts.team_models import ApiKey
from app.audit.actions import Action
from app.audit.log import record
from app.core.db import database_now
from app.core.errors import NotFound, ValidationFailed
from app.core.formatting import HOME
from app.core.tokens import fingerprint, opaque_token
from app.core.transaction import transaction
from app.events.timezones import to_instant
from app.teams.errors import TeamFull
from app.teams.queries import Team, lock_permitted_team

MAX_KEYS = 50
HINT_LENGTH = 4
LIVE, TEST = KEY_PREFIXES


def create_api_key(
    *,
    caller: Caller,
    organisation: Team,
    name: str,
    scopes: list[str],
    expires_at: datetime | None = None,
    password: str | None = None,
) -> tuple[ApiKey, str]:
    """Make a key; return its row and the key itself, which is shown once. The owner gets a mail.

    The owner confirms by their password or a recent sign-in. Raises ValidationFailed, TeamFull, ConfirmationRequired,
    CurrentPasswordWrong, Throttled.
    """
    confirm_owner(caller, password)
    end = to_instant(expires_at, HOME) if expires_at else None
    key = (LIVE if current_app.extensions["settings"].production else TEST) + opaque_token()
    with transaction() as session:
        if end is not None and end <= database_now():
            raise ValidationFailed.of("expiresAt", "in_the_past", "Must be in the future.")
        lock_permitted_team(session, caller, organisation.id, KEYS)
        is_active = (ApiKey.organisation_id == organisation.id, ApiKey.ended_at.is_(None))
        if session.scalars(select(func.count()).where(*is_active)).one() >= MAX_KEYS:
            raise TeamFull()
        api_key = ApiKey(
            organisation_id=organisation.id,
            name=name,
            scopes=sorted(set(scopes)),
            key_hash=fingerprint(key),
            hint=key[-HINT_LENGTH:],
            created_by=caller.id,
            expires_at=end,
        )
        session.add(api_key)
        session.flush()
        session.refresh(api_key)
        data = {"scopes": api_key.scopes}
        record(session, Action.API_KEY_CREATED, organisation_id=organisation.id, subject=api_key.id, data=data)
        enqueue_notice("api_key_created", caller.id, key_name=name, scopes=api_key.scopes)
    return api_key, key


def end_api_key(*, organisation: Team, key_id: str) -> None:
    """End a key; it is refused from the next request on. Repeating it changes nothing. Raises NotFound."""
    with transaction() as session:
        api_key = session.scalar(
            select(ApiKey).where(ApiKey.id == key_id, ApiKey.organisation_id == organisation.id).with_for_update()
        )
        if api_key is None:
            raise NotFound()
        if api_key.ended_at is None:
            api_key.ended_at = func.now()
            record(session, Action.API_KEY_ENDED, organisation_id=organisation.id, subject=key_id)
