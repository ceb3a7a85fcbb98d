"""Link slugs: an id and a keyed hash of it. A slug can be built again for another mail and is never stored."""

from flask import current_app

from app.core.ids import is_id
from app.core.tokens import derived_text, same

LINK_KIND, INVITE_KIND = "merchant-invite", "event-invite"
SECRET_LENGTH = 22


def build_slug(id: str, kind: str = LINK_KIND) -> str:
    """The slug of a link, or of the page of one merchant's invitation: 46 characters."""
    return id + derived_text(kind, id)[:SECRET_LENGTH]


def parse_slug(slug: str, kind: str = LINK_KIND) -> str | None:
    """The id in a slug; None if the slug is not valid for that kind."""
    id = slug[:24]
    return id if is_id(id) and same(slug, build_slug(id, kind)) else None


def build_invite_url(id: str, kind: str = LINK_KIND) -> str:
    """The URL of the page that shows the invitation."""
    base_url: str = current_app.extensions["settings"].PUBLIC_BASE_URL
    return f"{base_url}/merchant-invite/{build_slug(id, kind)}"
