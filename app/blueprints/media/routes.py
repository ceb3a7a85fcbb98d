"""Uploaded pictures, for everybody and for ever: a name says what is in it, so it never changes."""

from flask import Blueprint, Response, request

from app.media import queries

blueprint = Blueprint("media", __name__)
HEADERS = {
    "Cache-Control": "public, max-age=31536000, immutable",
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "Cross-Origin-Resource-Policy": "cross-origin",
}


@blueprint.get("/media/<name>")
def picture(name: str) -> Response:
    """A picture; 304 for whom has it."""
    kind = queries.kind_of(name)
    known = request.if_none_match.contains(name)
    response = Response(status=304) if known else Response(queries.picture(name), content_type=kind)
    response.set_etag(name)
    response.headers.update(HEADERS)
    return response
