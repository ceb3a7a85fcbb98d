"""The sections of the desk: one table says what is in the navigation, and who sees it.

A section is shown when its endpoint is registered and the person has its permission. It is the current one on every
page of its blueprint.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from flask import current_app, request, url_for

from app.accounts.caller import Caller
from app.accounts.permissions import (
    AUDIT_READ,
    EVENTS_READ,
    GATE_READ,
    GUESTS_READ,
    MEMBERS_READ,
    MEMBERS_WRITE,
    MESSAGES_READ,
    MONEY_READ,
    STALLS_READ,
    STOCK_READ,
)
from app.core.languages import lazy_gettext
from app.web.access import Access, may


class Section(NamedTuple):
    """A section: its label, the endpoint of its first page, and who may open it."""

    label: str
    endpoint: str
    access: Access


class Link(NamedTuple):
    """A link of the navigation. `current` is the value of `aria-current`, or empty."""

    label: str
    url: str
    current: str


ORGANISATION_SECTIONS = (
    Section(lazy_gettext("Home"), "desk.show", may(EVENTS_READ)),
    Section(lazy_gettext("Events"), "desk_events.show", may(EVENTS_READ)),
    Section(lazy_gettext("Accounting"), "desk_organisation_money.show", may(MONEY_READ, whole_organisation=True)),
    Section(lazy_gettext("Files"), "desk_files.show", may(EVENTS_READ)),
    Section(lazy_gettext("Team"), "desk_team.show", may(MEMBERS_READ, whole_organisation=True)),
    Section(lazy_gettext("Audit trail"), "desk_audit.show", may(AUDIT_READ, whole_organisation=True)),
    Section(lazy_gettext("Settings"), "desk_settings.show", may(MEMBERS_WRITE, whole_organisation=True)),
    Section(lazy_gettext("Account"), "account.show", may(EVENTS_READ)),
)
EVENT_SECTIONS = (
    Section(lazy_gettext("Overview"), "desk_event.show", may(EVENTS_READ)),
    Section(lazy_gettext("Ticket types"), "desk_ticket_types.show", may(EVENTS_READ)),
    Section(lazy_gettext("Sales"), "desk_sales.show", may(EVENTS_READ)),
    Section(lazy_gettext("Stalls"), "desk_stalls.show", may(STALLS_READ)),
    Section(lazy_gettext("Guests"), "desk_guests.show", may(GUESTS_READ)),
    Section(lazy_gettext("Gate"), "desk_gate.show", may(GATE_READ)),
    Section(lazy_gettext("Stock"), "desk_stock.show", may(STOCK_READ)),
    Section(lazy_gettext("Messages"), "desk_messages.show", may(MESSAGES_READ)),
    Section(lazy_gettext("Money"), "desk_money.show", may(MONEY_READ)),
)


def list_organisation_links(caller: Caller) -> list[Link]:
    """The sections of the organisation that the caller may open. `Events` is current inside an event too."""
    blueprint = request.blueprint
    if (request.view_args or {}).get("event_id"):
        blueprint = "desk_events"
    return [
        _build_link(section, blueprint)
        for section in _list_registered(ORGANISATION_SECTIONS)
        if section.access.allows(_for_access(caller, section.access))
    ]


def list_event_links(caller: Caller, *, event_id: str, organiser_id: str) -> list[Link]:
    """The sections of an event that the caller may open."""
    return [
        _build_link(section, request.blueprint, event_id=event_id)
        for section in _list_registered(EVENT_SECTIONS)
        if section.access.permission
        and caller.may(section.access.permission, organisation_id=organiser_id, event_id=event_id)
    ]


def is_registered(endpoint: str) -> bool:
    """Whether the page of this endpoint exists."""
    return endpoint in current_app.view_functions


def _list_registered(sections: Sequence[Section]) -> Iterator[Section]:
    return (section for section in sections if is_registered(section.endpoint))


def _for_access(caller: Caller, access: Access) -> Caller:
    return caller.for_permission(access.permission) if access.permission else caller


def _build_link(section: Section, blueprint: str | None, event_id: str | None = None) -> Link:
    is_current = section.endpoint.partition(".")[0] == blueprint
    is_open_page = is_current and section.endpoint == request.endpoint
    current = "page" if is_open_page else "true" if is_current else ""
    return Link(section.label, url_for(section.endpoint, event_id=event_id), current)
