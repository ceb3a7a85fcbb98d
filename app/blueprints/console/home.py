"""The start page."""

from flask import Response, current_app

from app.blueprints.console.rendering import Pages, render_page

blueprint = Pages("console", __name__)


@blueprint.get("/")
def start() -> Response:
    """Show what this service is, with links for developers."""
    return render_page("console/start.html", development=not current_app.extensions["settings"].production)
