"""What the invitation behind an application says: the event, and the terms that come with it."""

from dataclasses import dataclass

from app.core.errors import NotFound, ValidationFailed
from app.invitations.queries import application_terms

TAKEN = ("link_id", "event_id", "organiser_id", "timezone", "stall_type", "fee_minor")


@dataclass(frozen=True, kw_only=True)
class Terms:
    """The terms of an invitation; what is None is for the applicant to say."""

    link_id: str
    event_id: str
    organiser_id: str
    timezone: str
    stall_type: str | None
    fee_minor: int | None


def terms_of(slug: str) -> Terms:
    """The terms behind a slug. Raises ValidationFailed for one that nobody knows, and the Gone errors of dead ones."""
    try:
        found = application_terms(slug)
    except NotFound as error:
        sentence = "There is no invitation of that name."
        raise ValidationFailed.of("inviteSlug", "unknown_value", sentence) from error
    return Terms(**{name: found[name] for name in TAKEN})
