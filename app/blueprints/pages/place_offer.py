"""The offer of a place to an applicant on the waitlist: accept it, or leave it to the next in line."""

from collections.abc import Callable
from functools import wraps

from flask import Response, redirect, request, url_for
from flask.typing import ResponseReturnValue

from app.applications import actions, link_queries
from app.applications.errors import PlaceOfferChanged
from app.applications.states import ACCEPTED, ANSWERS, OFFER
from app.blueprints.pages.rendering import Pages, render_page
from app.core.errors import Gone, NotFound
from app.core.languages import gettext
from app.web import rate_limits
from app.web.rate_limits import Limit

PAGE, STEP_PURPOSES = "pages/place_offer.html", ("documents", "payment")
READ_LIMIT, ROUTE = Limit(120), "/place-offer/<token>"
MAX_FEE_DIGITS, NO_FEE_SHOWN = 15, -1
View = Callable[..., ResponseReturnValue]
blueprint = Pages("place_offer", __name__, url_prefix="/place-offer", translated=True)


def handle_ended_offer(view: View) -> View:
    """Decorate a view of an offer; ended and unknown ones get a page that explains them."""

    @wraps(view)
    def wrapper(token: str) -> ResponseReturnValue:
        rate_limits.count_request(READ_LIMIT, ROUTE)
        try:
            return view(token)
        except Gone as error:
            rate_limits.count_lookup_failure()
            expired_link = link_queries.get_expired_link(token, OFFER)
            return render_page(
                "pages/place_offer_ended.html",
                status=error.status,
                expired_link=expired_link,
                contact=expired_link.contact,
            )
        except NotFound:
            rate_limits.count_lookup_failure()
            return render_page("pages/link_unknown.html", status=404)

    return wrapper


@blueprint.get("/<token>")
@handle_ended_offer
def show(token: str) -> Response:
    """Show the offer, or what was answered and the next step."""
    return _render_offer(token)


def _render_offer(token: str, error: PlaceOfferChanged | None = None) -> Response:
    """Raises NotFound, PlaceOfferEnded."""
    offer = link_queries.get_place_offer(token)
    paths = (link_queries.find_step_path(offer["id"], purpose) for purpose in STEP_PURPOSES)
    # Later, only a mail to the applicant has the link: somebody else may have the mail of the offer.
    is_recent = offer["expires_at"] > offer["deadline"].calendar.now
    next_path = next(filter(None, paths), None) if offer["answer"] == ACCEPTED and is_recent else None
    return render_page(
        PAGE,
        status=error.status if error else 200,
        offer=offer,
        token=token,
        next_path=next_path,
        is_declining="decline" in request.args,
        error=gettext(error.message) if error else "",
    )


@blueprint.post("/<token>")
@handle_ended_offer
def answer(token: str) -> ResponseReturnValue:
    """Accept or decline the place, by the fee that the page showed."""
    chosen_answer, fee = request.form.get("answer", ""), request.form.get("fee", "")
    if chosen_answer in ANSWERS:
        # Without a readable fee, none was shown: then the page is shown again.
        shown_fee = int(fee) if fee.isascii() and fee.isdecimal() and len(fee) <= MAX_FEE_DIGITS else NO_FEE_SHOWN
        try:
            actions.answer_offer(token=token, answer=chosen_answer, fee_minor=shown_fee)
        except PlaceOfferChanged as error:
            return _render_offer(token, error)
    return redirect(url_for("place_offer.show", token=token), 303)
