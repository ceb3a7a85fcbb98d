"""The page behind the link in the mail to a new contact address of an organisation."""

from flask import Response
from flask.typing import ResponseReturnValue

from app.blueprints.pages.rendering import Pages, render_page
from app.core.errors import LinkExpired, NotFound
from app.teams import actions
from app.web import rate_limits

blueprint = Pages("contact", __name__, url_prefix="/confirm-contact", translated=True)


@blueprint.get("/<token>")
def show(token: str) -> ResponseReturnValue:
    """Show what the address is for. Opening the link changes nothing."""
    try:
        contact = actions.find_contact_request(token)
    except (LinkExpired, NotFound):
        return _render_ended()
    return render_page("pages/contact.html", contact_request=contact, token=token)


@blueprint.post("/<token>")
def confirm(token: str) -> ResponseReturnValue:
    """Make the address the public contact."""
    try:
        contact = actions.confirm_contact(token=token)
    except (LinkExpired, NotFound):
        return _render_ended()
    return render_page("pages/contact.html", contact_request=contact, token=token)


def _render_ended() -> Response:
    rate_limits.count_lookup_failure()
    return render_page("pages/contact_ended.html", status=LinkExpired.status)
