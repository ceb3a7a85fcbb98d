"""The start page."""

from flask import Response, current_app

from app.blueprints.pages.rendering import Pages, render_page

blueprint = Pages("home", __name__)


@blueprint.get("/")
def start() -> Response:
    """Show what this service is, with links for developers."""
    return render_page("pages/start.html", development=not current_app.extensions["settings"].production)
