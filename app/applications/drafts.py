"""Drafts of application forms: found by the token of a mailed link, deleted when the form is sent and after 30 days."""

from datetime import timedelta
from typing import NamedTuple

from flask import current_app
from sqlalchemy import delete, func, select
from sqlalchemy.orm import Session as OrmSession

from app.applications.models import ApplicationDraft
from app.core.db import ReadOrWriteSession, db
from app.invitations.queries import build_slug, parse_slug

LIFETIME = timedelta(days=30)
TOKEN_KIND = "application-draft"
BATCH_SIZE = 1000


class Draft(NamedTuple):
    """The texts of a form as they were typed, and its token."""

    form_values: dict[str, str]
    token: str


def find_draft(token: str, event_id: str) -> Draft | None:
    """The draft of a token for this event; None if it was sent, has expired or never existed."""
    statement = select(ApplicationDraft.form_values).where(
        ApplicationDraft.id == parse_slug(token, TOKEN_KIND),
        ApplicationDraft.event_id == event_id,
        ApplicationDraft.expires_at > func.now(),
    )
    form_values = db.session.scalar(statement)
    return None if form_values is None else Draft(form_values, token)


def delete_draft(session: OrmSession, token: str) -> None:
    """Deletes the draft of a token, if there is one."""
    session.execute(delete(ApplicationDraft).where(ApplicationDraft.id == parse_slug(token, TOKEN_KIND)))


def build_draft_url(draft: ApplicationDraft) -> str:
    """The URL of the page that shows the form with the values of the draft."""
    base_url = current_app.extensions["settings"].PUBLIC_BASE_URL
    path = f"merchant-invite/{draft.invite_slug}" if draft.invite_slug else f"apply/{draft.event_id}"
    return f"{base_url}/{path}?draft={build_slug(draft.id, TOKEN_KIND)}"


def erase_expired_drafts(session: ReadOrWriteSession) -> int:
    """Deletes at most BATCH_SIZE expired drafts and returns how many."""
    is_expired = ApplicationDraft.expires_at <= func.now()
    batch = select(ApplicationDraft.id).where(is_expired).limit(BATCH_SIZE).with_for_update(skip_locked=True)
    statement = delete(ApplicationDraft).where(ApplicationDraft.id.in_(batch)).returning(ApplicationDraft.id)
    return len(session.execute(statement, execution_options={"synchronize_session": False}).all())


def count_expired_drafts() -> int:
    """How many drafts the next erasure deletes."""
    is_expired = ApplicationDraft.expires_at <= func.now()
    return db.session.scalar(select(func.count()).select_from(ApplicationDraft).where(is_expired)) or 0
