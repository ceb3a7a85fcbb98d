"""The page that stops a payout, linked from the email about a payout to a new destination.

Link scanners open the page too, so a GET changes nothing.
"""

from flask import redirect, url_for
from flask.typing import ResponseReturnValue

from app.blueprints.pages.rendering import Pages, render_page
from app.core.errors import NotFound
from app.payouts import actions, queries
from app.payouts.emails import find_payout_id
from app.web.rate_limits import Limit, count_lookup_failure, count_request

READ_LIMIT, ROUTE = Limit(120), "/payout-stop/<token>"
blueprint = Pages("payout_stop", __name__, url_prefix="/payout-stop")


@blueprint.get("/<token>")
def show(token: str) -> ResponseReturnValue:
    """Show the payout, and whether it can still be stopped."""
    count_request(READ_LIMIT, ROUTE)
    payout_id = find_payout_id(token)
    payout = queries.find_stoppable_payout(payout_id) if payout_id else None
    if payout is None:
        return _render_unknown_link()
    return render_page("pages/stop_payout.html", token=token, payout=payout)


@blueprint.post("/<token>")
def stop(token: str) -> ResponseReturnValue:
    """Stop the payout and show the page again."""
    count_request(READ_LIMIT, ROUTE)
    payout_id = find_payout_id(token)
    try:
        if payout_id is None:
            raise NotFound()
        actions.stop_payouts(payout_id)
    except NotFound:
        return _render_unknown_link()
    return redirect(url_for("payout_stop.show", token=token), 303)


def _render_unknown_link() -> ResponseReturnValue:
    count_lookup_failure()
    return render_page("pages/stop_payout_unknown.html", status=404)
