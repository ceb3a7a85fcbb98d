"""The start page."""

from flask import Blueprint, Response, current_app

from app.blueprints.console.page import errors_as_pages, page

blueprint = Blueprint("console", __name__)
blueprint.before_request(errors_as_pages)


@blueprint.get("/")
def start() -> Response:
    """What this is, and where to go from here."""
    return page("console/start.html", development=not current_app.extensions["settings"].production)
