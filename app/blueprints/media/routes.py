"""Uploaded pictures, for everybody and for ever: a name says what is in it, so it never changes."""

from typing import Any

from flask import Response, request

from app.media import queries
from app.web.access import PUBLIC
from app.web.blueprint import Blueprint

blp = Blueprint("media", __name__, url_prefix="/media", description="Uploaded pictures")
HEADERS = {
    "Cache-Control": "public, max-age=31536000, immutable",
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "Cross-Origin-Resource-Policy": "cross-origin",
}


@blp.get("/<name>", access=PUBLIC, content_type="image/*")
def picture(name: str) -> Any:
    """See an uploaded picture.

    Its name follows from what is in it, so it may be kept for ever.
    """
    kind = queries.kind_of(name)
    known = request.if_none_match.contains(name)
    return _served(Response(status=304) if known else Response(queries.picture(name), content_type=kind), name)


def _served(response: Response, name: str) -> Response:
    response.set_etag(name)
    response.headers.update(HEADERS)
    return response
