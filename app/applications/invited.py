"""What the invitation behind an application says: the event, and the terms that come with it."""

from dataclasses import dataclass

from app.core.errors import ValidationFailed


@dataclass(frozen=True, kw_only=True)
class Terms:
    """The terms of an invitation; what is None is for the applicant to say."""

    event_id: str
    stall_type: str | None = None
    fee_minor: int | None = None


def terms_of(slug: str) -> Terms:
    """The terms behind a slug. Raises ValidationFailed for one that nobody knows."""
    raise ValidationFailed.of("inviteSlug", "unknown_value", "There is no invitation of that name.")
