"""Saving an application form, to go on with it later by a mailed link."""

from collections.abc import Mapping
from datetime import timedelta

from sqlalchemy import func, update
from sqlalchemy.orm import Session as OrmSession

from app.applications.actions.submission import MAILS_PER_EVENT
from app.applications.drafts import LIFETIME, TOKEN_KIND
from app.applications.models import ApplicationDraft
from app.core import throttle
from app.core.errors import Throttled
from app.core.languages import find_page_language, mark_for_translation
from app.core.outbox import enqueue
from app.core.throttle import Rule
from app.core.transaction import transaction
from app.invitations.queries import parse_slug

LINKS_PER_HOUR = Rule("draft-links-hour", 1, timedelta(hours=1))
LINKS_PER_DAY = Rule("draft-links-day", 5, timedelta(days=1))
"""Links to one address, from all who type it."""
LINK_SENT_MESSAGE = mark_for_translation(
    "We have sent a link to this address a short time ago. Go on with that link, or send the application now."
)
EVENT_LIMIT_MESSAGE = mark_for_translation(
    "Very many forms for this event were saved today. Send the application now, or save the form tomorrow."
)


def save_draft(
    *,
    event_id: str,
    email: str,
    form_values: Mapping[str, str],
    invite_slug: str | None = None,
    draft_token: str | None = None,
) -> bool:
    """Saves the form for 30 days, and mails a link to it. False if the link of its earlier draft goes on working.

    Raises Throttled if the address or the event has had too many links.
    """
    with transaction() as session:
        if draft_token and _update_draft(session, draft_token, event_id, email, form_values):
            return False
        limits = (LINKS_PER_HOUR, email), (LINKS_PER_DAY, email), (MAILS_PER_EVENT, event_id)
        *address_limits, event_limit = throttle.hit_all(session, *limits)
        for status in address_limits:
            if status.exceeded:
                raise Throttled(LINK_SENT_MESSAGE, retry_after=status.seconds)
        if event_limit.exceeded:
            raise Throttled(EVENT_LIMIT_MESSAGE, retry_after=event_limit.seconds)
        draft = ApplicationDraft(
            event_id=event_id,
            invite_slug=invite_slug,
            email=email,
            form_values=dict(form_values),
            language=find_page_language(),
            expires_at=func.now() + LIFETIME,
        )
        session.add(draft)
        session.flush()
        enqueue("applications.mail_draft", key=f"application-draft-{draft.id}", draft_id=draft.id)
        return True


def _update_draft(session: OrmSession, token: str, event_id: str, email: str, form_values: Mapping[str, str]) -> bool:
    """Saves the form in the draft of a token, if it is still there and for the same address."""
    statement = (
        update(ApplicationDraft)
        .where(
            ApplicationDraft.id == parse_slug(token, TOKEN_KIND),
            ApplicationDraft.event_id == event_id,
            ApplicationDraft.email == email,
            ApplicationDraft.expires_at > func.now(),
        )
        .values(form_values=dict(form_values), expires_at=func.now() + LIFETIME)
        .returning(ApplicationDraft.id)
    )
    return session.execute(statement, execution_options={"synchronize_session": False}).first() is not None
