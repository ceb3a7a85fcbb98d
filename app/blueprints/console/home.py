"""The start page."""

from flask import Response, current_app

from app.blueprints.console.rendering import Pages, page

blueprint = Pages("console", __name__)


@blueprint.get("/")
def start() -> Response:
    """What this is, and where to go from here."""
    return page("console/start.html", development=not current_app.extensions["settings"].production)
