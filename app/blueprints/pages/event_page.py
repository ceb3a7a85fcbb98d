"""The public page of an event, and its calendar file."""

from http import HTTPStatus

from flask import Response, redirect, url_for
from werkzeug.wrappers import Response as BaseResponse

from app.blueprints.pages.event_metadata import (
    build_share_card,
    build_structured_data,
    find_upload_path,
    format_address,
    get_page_url,
)
from app.blueprints.pages.rendering import Pages, render_page
from app.core.errors import NotFound
from app.core.formatting import format_money, format_time
from app.core.languages import gettext, lazy_gettext
from app.events.calendar_file import CALENDAR_TYPE, Appointment, build_calendar_file
from app.events.event_pages import EventPage, TicketOffer, find_cancelled_event, find_slug, load_event_page
from app.events.map_links import build_map_link
from app.web.rate_limits import Limit, count_request
from app.web.response_cache import CachePolicy, keep_page

READ_LIMIT, ROUTE = Limit(120), "/e/<slug>"
TICKETS = CachePolicy(1.0, ("events", "tickets"))
STATES = {"sold_out": lazy_gettext("Sold out"), "ended": lazy_gettext("Sales have ended")}
blueprint = Pages("event_page", __name__, url_prefix="/e", translated=True)


@blueprint.get("/<slug>")
@keep_page(TICKETS)
def show(slug: str) -> BaseResponse:
    """Show an event, or that it is cancelled. An address with its id leads to the one with its slug."""
    count_request(READ_LIMIT, ROUTE)
    present_slug = find_slug(slug)
    if present_slug not in (None, slug):
        return redirect(url_for("event_page.show", slug=present_slug))
    try:
        return _render(load_event_page(slug))
    except NotFound:
        if (event := find_cancelled_event(slug)) is None:
            raise
        return render_page("pages/event_cancelled.html", status=HTTPStatus.NOT_FOUND, event=event)


@blueprint.get("/<slug>.ics")
@keep_page(TICKETS)
def get_calendar_file(slug: str) -> Response:
    """Return the event as a file for calendars."""
    count_request(READ_LIMIT, ROUTE)
    page = load_event_page(slug)
    response = Response(build_calendar_file(_build_appointment(page)), content_type=f"{CALENDAR_TYPE}; charset=utf-8")
    response.headers["Content-Disposition"] = f'attachment; filename="{page.slug}.ics"'
    if not page.is_listed:
        response.headers["X-Robots-Tag"] = "noindex"
    return response


def _render(page: EventPage) -> Response:
    return render_page(
        "pages/event.html",
        page=page,
        contact=page.contact,
        begins=format_time(page.starts_at, page.timezone),
        ends=format_time(page.ends_at, page.timezone),
        address=", ".join(format_address(page)),
        map_url=build_map_link(page.latitude, page.longitude, format_address(page)),
        cover_path=find_upload_path(page.cover_image_url),
        sponsors=[(sponsor, find_upload_path(sponsor.logo_url)) for sponsor in page.sponsors],
        offers=[(offer, _describe_offer(offer, page.timezone)) for offer in page.offers],
        share_card=build_share_card(page),
        structured_data=build_structured_data(page),
    )


def _describe_offer(offer: TicketOffer, zone: str) -> str:
    """The state of the sale, how long the price holds, and what it is afterwards."""
    if offer.status == "not_started":
        if offer.begins_at is None:
            return gettext("Sales have not begun")
        return gettext("Sales begin on %(time)s", time=format_time(offer.begins_at, zone))
    if offer.status in STATES:
        return str(STATES[offer.status])
    few_left = gettext("Few left") if offer.status == "low" else None
    phase = offer.phase
    if phase and offer.phase_ends_at:
        phase = gettext("%(phase)s until %(time)s", phase=phase, time=format_time(offer.phase_ends_at, zone))
    next_price = offer.next_price_minor
    then = None if next_price is None else gettext("then %(price)s", price=format_money(next_price))
    return " · ".join(filter(None, (few_left, phase, then)))


def _build_appointment(page: EventPage) -> Appointment:
    url = get_page_url(page.slug)
    return Appointment(
        event_id=page.id,
        sequence=page.version,
        changed_at=page.changed_at,
        starts_at=page.starts_at,
        ends_at=page.ends_at,
        title=page.name,
        place=", ".join(format_address(page)),
        description="\n\n".join(filter(None, (page.description, url))),
        url=url,
        latitude=page.latitude,
        longitude=page.longitude,
    )
