"""What the page of an event says to programs: the card of a shared link, and structured data for search engines.

Links in it are absolute, from PUBLIC_BASE_URL.
"""

from typing import NamedTuple
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

from flask import current_app, url_for

from app.core.formatting import format_country, format_days, format_time
from app.events.event_pages import EventPage, TicketOffer
from app.events.reentry import DAY_BEGINS

MAX_SUMMARY_LENGTH = 200
AVAILABILITY = {
    "on_sale": "InStock",
    "low": "LimitedAvailability",
    "not_started": "PreOrder",
    "sold_out": "SoldOut",
    "ended": "OutOfStock",
}
JsonLd = dict[str, object]


class ShareCard(NamedTuple):
    """The card of a link in a message or a post; `image_url` is empty without a cover."""

    url: str
    summary: str
    image_url: str


def build_share_card(page: EventPage) -> ShareCard:
    """The card of an event."""
    return ShareCard(get_page_url(page.slug), _describe_link(page), page.cover_image_url)


def build_structured_data(page: EventPage) -> JsonLd:
    """The event as an Event or MusicEvent of schema.org, without what is not known."""
    url, zone = get_page_url(page.slug), ZoneInfo(page.timezone)
    return _without_empty(
        {
            "@context": "https://schema.org",
            "@type": "MusicEvent" if page.category == "music" else "Event",
            "@id": url,
            "url": url,
            "name": page.name,
            "description": _summarize(page),
            "startDate": page.starts_at.astimezone(zone).isoformat(timespec="minutes"),
            "endDate": page.ends_at.astimezone(zone).isoformat(timespec="minutes"),
            "eventStatus": "https://schema.org/EventScheduled",
            "eventAttendanceMode": "https://schema.org/OfflineEventAttendanceMode",
            "image": page.cover_image_url,
            "location": _build_place(page),
            "organizer": {"@type": "Organization", "name": page.organiser_name},
            "performer": [{"@type": "PerformingGroup", "name": entry.name} for entry in page.lineup],
            "offers": [_build_offer(offer, page.tickets_url or url) for offer in page.offers],
        }
    )


def format_address(page: EventPage) -> list[str]:
    """Venue, city and country of an event, each once."""
    return list(dict.fromkeys((page.venue, page.city, format_country(page.country))))


def find_upload_path(url: str | None) -> str | None:
    """The path of a picture that was uploaded to this service; None for others, which browsers do not load here."""
    is_upload = url is not None and url.startswith(f"{current_app.extensions['settings'].PUBLIC_BASE_URL}/media/")
    return urlsplit(url).path if is_upload else None  # type: ignore[return-value]


def get_page_url(slug: str) -> str:
    """The address of the page of an event."""
    base_url: str = current_app.extensions["settings"].PUBLIC_BASE_URL
    return base_url + url_for("event_page.show", slug=slug)


def _describe_link(page: EventPage) -> str:
    """Days and place, and the beginning of the description. A night belongs to the day before."""
    if not (page.description or "").strip():
        return _summarize(page)
    last = max(page.starts_at, page.ends_at - DAY_BEGINS)
    places = dict.fromkeys((format_days(page.starts_at, last, page.timezone), page.venue, page.city))
    return _shorten(f"{', '.join(places)}. {page.description}")


def _summarize(page: EventPage) -> str:
    """The beginning of the description in one line; without one, time and place."""
    text = _shorten(page.description or "")
    return text or f"{format_time(page.starts_at, page.timezone)} · {', '.join(format_address(page))}"


def _shorten(text: str) -> str:
    text = " ".join(text.split())
    if len(text) <= MAX_SUMMARY_LENGTH:
        return text
    beginning = text[:MAX_SUMMARY_LENGTH]
    return f"{beginning.rpartition(' ')[0] or beginning}…"


def _build_place(page: EventPage) -> JsonLd:
    has_position = page.latitude is not None and page.longitude is not None
    position = {"@type": "GeoCoordinates", "latitude": page.latitude, "longitude": page.longitude}
    return _without_empty(
        {
            "@type": "Place",
            "name": page.venue,
            "address": {"@type": "PostalAddress", "addressLocality": page.city, "addressCountry": page.country},
            "geo": position if has_position else None,
        }
    )


def _build_offer(offer: TicketOffer, url: str) -> JsonLd:
    return _without_empty(
        {
            "@type": "Offer",
            "name": offer.name,
            "price": f"{offer.price_minor / 100:.2f}",
            "priceCurrency": "NAD",
            "availability": f"https://schema.org/{AVAILABILITY[offer.status]}",
            "url": url,
            "validFrom": offer.begins_at.isoformat() if offer.begins_at else None,
        }
    )


def _without_empty(data: JsonLd) -> JsonLd:
    return {name: value for name, value in data.items() if value not in (None, "", [])}
