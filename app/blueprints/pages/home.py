"""The start page."""

from flask import Response, current_app

from app.blueprints.pages.rendering import Pages, render_page
from app.blueprints.pages.signed_in import get_page_caller

blueprint = Pages("home", __name__, translated=True)


@blueprint.get("/")
def start() -> Response:
    """Show what this service is and where to go on, with links for developers."""
    get_page_caller()
    return render_page("pages/start.html", development=not current_app.extensions["settings"].production)
