"""The organiser whose event a page belongs to; their name and logo are in its header."""

from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import urlsplit

from app.accounts.organisation_details import load_organisation_details


class PageOrganiser(NamedTuple):
    """Name, and path of the logo on this site."""

    name: str
    logo_path: str | None


def find_page_organiser(context: Mapping[str, object]) -> PageOrganiser | None:
    """The organiser of the first variable of a template that has an `organiser_id`; None without one."""
    organiser_id = next((id for id in map(_get_organiser_id, context.values()) if id), None)
    if organiser_id is None:
        return None
    details = load_organisation_details(organiser_id)
    return PageOrganiser(details.name, urlsplit(details.logo_url).path if details.logo_url else None)


def _get_organiser_id(variable: object) -> str | None:
    organiser_id = (
        variable.get("organiser_id") if isinstance(variable, Mapping) else getattr(variable, "organiser_id", None)
    )
    return organiser_id if isinstance(organiser_id, str) else None
