"""The start page."""

from flask import Response, current_app

from app.accounts.permissions import ORGANISER
from app.blueprints.pages.rendering import Pages, render_page
from app.blueprints.pages.signed_in import find_chosen_team, get_page_caller

blueprint = Pages("home", __name__, translated=True)


@blueprint.get("/")
def start() -> Response:
    """Show what this service is and where to go on, with links for developers."""
    caller = get_page_caller()
    return render_page(
        "pages/start.html",
        has_desk=caller is not None and find_chosen_team(caller, ORGANISER) is not None,
        development=not current_app.extensions["settings"].production,
    )
