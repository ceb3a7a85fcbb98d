"""What the invitation behind an application says: the event, and the terms that come with it."""

from dataclasses import dataclass

from app.core.errors import NotFound, ValidationFailed
from app.invitations.queries import application_terms


@dataclass(frozen=True, kw_only=True)
class Terms:
    """The terms of an invitation; what is None is for the applicant to say."""

    link_id: str
    event_id: str
    stall_type: str | None
    fee_minor: int | None


def terms_of(slug: str) -> Terms:
    """The terms behind a slug. Raises ValidationFailed for one that nobody knows, and the Gone errors of dead ones."""
    try:
        found = application_terms(slug)
    except NotFound as error:
        sentence = "There is no invitation of that name."
        raise ValidationFailed.of("inviteSlug", "unknown_value", sentence) from error
    return Terms(**{name: found[name] for name in ("link_id", "event_id", "stall_type", "fee_minor")})
