"""The names of links: an id and what is derived from it, so that a link can be mailed again and is stored nowhere."""

from flask import current_app

from app.core.ids import is_id
from app.core.tokens import derived_text, same

LINK, INVITE = "merchant-invite", "event-invite"
LENGTH = 22


def slug_of(id: str, kind: str = LINK) -> str:
    """The secret name of a link, or of the page of one merchant's invitation: 46 characters."""
    return id + derived_text(kind, id)[:LENGTH]


def id_of(slug: str, kind: str = LINK) -> str | None:
    """What a name belongs to; None for a name that was never given out for that kind of thing."""
    id = slug[:24]
    return id if is_id(id) and same(slug, slug_of(id, kind)) else None


def url_of(id: str, kind: str = LINK) -> str:
    """The page that people open."""
    base: str = current_app.extensions["settings"].PUBLIC_BASE_URL
    return f"{base}/merchant-invite/{slug_of(id, kind)}"
