"""The page behind the link in the mail about a payout to a new destination.

Programs that look where links lead open the page as well, so opening it changes nothing.
"""

from flask import redirect, url_for
from flask.typing import ResponseReturnValue

from app.blueprints.console.rendering import Pages, page
from app.core.errors import NotFound
from app.payouts import actions, queries
from app.payouts.notices import find_payout_id
from app.web.rate_limits import Limit, count_lookup_failure, count_request

READING, ROUTE = Limit(120), "/payout-stop/<token>"
blueprint = Pages("payout_stop", __name__, url_prefix="/payout-stop")


@blueprint.get("/<token>")
def show(token: str) -> ResponseReturnValue:
    """What the link would stop, and whether it still can."""
    count_request(READING, ROUTE)
    payout_id = find_payout_id(token)
    payout = queries.find_stoppable_payout(payout_id) if payout_id else None
    if payout is None:
        return _unknown()
    return page("console/payout_stop.html", token=token, payout=payout)


@blueprint.post("/<token>")
def stop(token: str) -> ResponseReturnValue:
    """Stops the payout, and shows the page again."""
    count_request(READING, ROUTE)
    payout_id = find_payout_id(token)
    try:
        if payout_id is None:
            raise NotFound()
        actions.stop_payouts(payout_id)
    except NotFound:
        return _unknown()
    return redirect(url_for("payout_stop.show", token=token), 303)


def _unknown() -> ResponseReturnValue:
    count_lookup_failure()
    return page("console/payout_stop_unknown.html", status=404)
