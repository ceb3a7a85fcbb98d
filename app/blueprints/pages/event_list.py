"""The public list of events: a search with filters, twenty events a page."""

from typing import Any
from urllib.parse import urlencode

from flask import Response, request

from app.blueprints.pages.forms import FilledForm, Form, Input
from app.blueprints.pages.rendering import Pages, render_page
from app.core.errors import ValidationFailed
from app.core.formatting import HOME
from app.core.languages import lazy_gettext
from app.events import discovery
from app.events.discovery_sql import EventFilters
from app.events.timezones import to_instant
from app.events.validation import CATEGORIES
from app.web import paging
from app.web.fields import Choice, EndTimeField, Text, TimeField
from app.web.rate_limits import Limit, count_request
from app.web.response_cache import CachePolicy, keep_page
from app.web.schema import Query

READ_LIMIT, PAGE_SIZE = Limit(120), 20
SORT, CURSOR_SCOPE = "starts_at", "page of events"
CATALOGUE = CachePolicy(1.0, ("events",))
CATEGORY_NAMES = {
    "music": lazy_gettext("Music"),
    "food": lazy_gettext("Food and drink"),
    "arts": lazy_gettext("Arts"),
    "sport": lazy_gettext("Sport"),
    "business": lazy_gettext("Business fairs"),
    "community": lazy_gettext("Community"),
    "family": lazy_gettext("Family"),
    "other": lazy_gettext("Other events"),
}
blueprint = Pages("event_list", __name__, url_prefix="/events", translated=True)


class SearchSchema(Query):
    q = Text(min=1, max=200)
    city = Text(min=1, max=120)
    category = Choice(*CATEGORIES)
    since = TimeField(data_key="from")
    until = EndTimeField(data_key="to")


WRONG_DATE = {"invalid_time": lazy_gettext("Enter a date like 2026-12-04.")}
SEARCH = Form(
    SearchSchema,
    Input("q", lazy_gettext("Search"), hint=lazy_gettext("Name, city, venue or artist."), type="search"),
    Input("city", lazy_gettext("City")),
    Input("category", lazy_gettext("Kind of event")),
    Input("from", lazy_gettext("From"), type="date", messages=WRONG_DATE),
    Input("to", lazy_gettext("Until"), type="date", messages=WRONG_DATE),
)


@blueprint.get("")
@keep_page(CATALOGUE)
def show() -> Response:
    """Show the events that match the search, the soonest first."""
    count_request(READ_LIMIT, "/events")
    form = SEARCH.fill(**{name: request.args.get(name, "") for name in SEARCH.inputs})
    try:
        filters = _build_filters(form.load())
    except ValidationFailed as error:
        return _render(form.with_error(error), status=error.status)
    after = _find_position(request.args.get("cursor"))
    page = discovery.discover(sort=SORT, limit=PAGE_SIZE, after=after, filters=filters)
    return _render(
        form,
        entries=page.entries,
        is_first_page=after is None,
        next_url=_build_url(form, cursor=paging.encode_cursor(page.after, CURSOR_SCOPE)) if page.after else None,
        suggestions=discovery.suggestions(filters.q) if filters.q and not page.rows else [],
    )


def _render(form: FilledForm, *, status: int = 200, **context: object) -> Response:
    used_names = {name for name, value in form.values.items() if value.strip()}
    return render_page(
        "pages/events.html",
        form=form,
        status=status,
        is_filtered=bool(used_names),
        has_filters=bool(used_names - {"q"}),
        categories=CATEGORY_NAMES,
        first_url=_build_url(form),
        **context,
    )


def _build_filters(values: dict[str, Any]) -> EventFilters:
    """The filters; days are those of Windhoek."""
    times: dict[str, Any] = {name: to_instant(values[name], HOME) for name in ("since", "until") if name in values}
    return EventFilters(**{**values, **times})


def _find_position(cursor: str | None) -> discovery.CursorKey | None:
    """Where the page starts; the first page for a cursor that is not ours."""
    try:
        return paging.decode_cursor(cursor, CURSOR_SCOPE, discovery.CURSOR_COLUMNS[SORT]) if cursor else None
    except ValidationFailed:
        return None


def _build_url(form: FilledForm, cursor: str = "") -> str:
    values = {name: value for name, value in [*form.values.items(), ("cursor", cursor)] if value}
    return f"/events?{urlencode(values)}" if values else "/events"
