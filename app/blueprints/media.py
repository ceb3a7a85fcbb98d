"""Uploaded pictures. They are public, and cached without limit because the name is a hash of the content."""

from flask import Response, request

from app.media import actions
from app.web.access import PUBLIC
from app.web.blueprint import Blueprint

blp = Blueprint("media", __name__, url_prefix="/media", description="Uploaded pictures")
PICTURE_HEADERS = {
    "Cache-Control": "public, max-age=31536000, immutable",
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "Cross-Origin-Resource-Policy": "cross-origin",
}


@blp.get("/<name>", access=PUBLIC, content_type="image/*")
def picture(name: str) -> Response:
    """Get an uploaded picture.

    Its name is a hash of the content, so it may be cached without limit.
    """
    content_type = actions.get_content_type(name)
    is_cached = request.if_none_match.contains(name)
    return _add_headers(
        Response(status=304) if is_cached else Response(actions.get_picture(name), content_type=content_type), name
    )


def _add_headers(response: Response, name: str) -> Response:
    response.set_etag(name)
    response.headers.update(PICTURE_HEADERS)
    return response
