"""The page behind the link in the mail to the old address after an account has got another one."""

from flask import redirect, session, url_for
from flask.typing import ResponseReturnValue

from app.accounts import actions
from app.accounts.errors import AddressTaken
from app.blueprints.pages.rendering import Pages, render_page
from app.core.addresses import mask_address
from app.core.errors import LinkExpired, NotFound
from app.web import rate_limits

DONE_KEY = "address_restored"
blueprint = Pages("address_undo", __name__, url_prefix="/undo-address-change")


@blueprint.get("/done")
def done() -> ResponseReturnValue:
    """Say what happened and what to do next."""
    email = session.get(DONE_KEY)
    return render_page("pages/address_restored.html", email=email) if email else redirect("/", 303)


@blueprint.get("/<token>")
def show(token: str) -> ResponseReturnValue:
    """Show what happened. Opening the link changes nothing."""
    try:
        change = actions.find_undoable_change(token)
    except (LinkExpired, NotFound):
        return _render_expired()
    return render_page(
        "pages/address_undo.html",
        token=token,
        old_email=change.old_email,
        new_email=mask_address(change.new_email),
        changed_at=change.confirmed_at,
        until=change.undo_until,
    )


@blueprint.post("/<token>")
def undo(token: str) -> ResponseReturnValue:
    """Restore the old address."""
    try:
        session[DONE_KEY] = actions.undo_address_change(token=token)
    except (LinkExpired, NotFound):
        return _render_expired()
    except AddressTaken as error:
        return render_page("pages/address_undo_ended.html", is_taken=True, status=error.status)
    return redirect(url_for("address_undo.done"), 303)


def _render_expired() -> ResponseReturnValue:
    rate_limits.count_lookup_failure()
    return render_page("pages/address_undo_ended.html", is_taken=False, status=LinkExpired.status)
