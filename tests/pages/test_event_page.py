"""The public page of an event, what it says to programs, and its calendar file."""

import json
import re
from datetime import UTC, datetime
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import text

from app.core.cache_invalidation import invalidate
from app.core.transaction import transaction
from tests.allocations.blocks import block_of
from tests.blueprints.test_event_visibility import in_state
from tests.factories.accounts import create_account, create_signed_in_client
from tests.factories.events import create_organiser_client, create_published_event, update_event
from tests.http import Client, data
from tests.pages.pages import Visitor

LINEUP = [{"name": "Ees", "stage": "River stage", "startsAt": "2027-06-04T19:30:00"}, {"name": "Shishani"}]
STALL_TYPES = [{"name": "Food", "feeMinor": 250000}]
TYPES = [
    {
        "name": "Weekend pass",
        "description": "All three nights.",
        "priceMinor": 85000,
        "quantity": 100,
        "phases": [{"name": "Early bird", "priceMinor": 65000, "quantity": 50, "endsAt": "2027-03-01"}],
    },
    {"name": "Child", "priceMinor": 0, "quantity": 10},
    {
        "name": "Late pass",
        "priceMinor": 50000,
        "quantity": 10,
        "phases": [{"name": "Late", "priceMinor": 50000, "startsAt": "2027-05-01T08:00:00"}],
    },
]
HOSTILE = """</script><script>alert(1)</script> & "quoted" 'single' {{ 7 * 7 }} \u2028"""


@pytest.fixture
def owner(client: Client) -> Client:
    return create_signed_in_client(
        client, create_account("organiser", name="Windhoek Lights", email="office@lights.example")
    )


def read_structured_data(html: str) -> dict[str, Any]:
    (block,) = re.findall(r'<script type="application/ld\+json">(.*?)</script>', html, re.S)
    return dict(json.loads(block))


def read_properties(html: str) -> dict[str, str]:
    return dict(re.findall(r'<meta (?:property|name)="([^"]+)" content="([^"]*)">', html))


def set_sold(event: dict[str, Any], sold: int) -> None:
    with transaction() as session:
        session.execute(
            text("UPDATE ticket_type SET sold = :sold WHERE event_id = :id"), {"id": event["id"], "sold": sold}
        )
        invalidate(session, "tickets")


def test_the_page_says_when_where_and_what_it_costs(owner: Client, visitor: Visitor) -> None:
    event = create_published_event(
        owner,
        name="Dune Nights",
        description="Three nights\nof music.",
        latitude=-22.5609,
        longitude=17.0658,
        lineup=LINEUP,
        ticketTypes=TYPES,
        sponsors=[{"name": "Kalahari Coffee", "tier": "gold", "href": "https://coffee.example"}],
        ticketsUrl="https://tickets.example/dunes",
        stallTypes=STALL_TYPES,
    )
    page = visitor.open("/e/dune-nights")
    assert page.status_code == 200
    for expected in (
        '<h1 dir="auto">Dune Nights</h1>',
        "Fri 4 June 2027, 18:00 (Windhoek)",
        "River grounds, Windhoek, Namibia",
        "https://www.openstreetmap.org/?mlat=-22.560900&amp;mlon=17.065800#map=17/-22.560900/17.065800",
        "Three nights\nof music.",
        "N$\u00a0650.00",
        "Early bird until Mon 1 March 2027, 23:59 (Windhoek) · then N$\u00a0850.00<",
        "All three nights.",
        "Free",
        "Sales begin on Sat 1 May 2027, 08:00 (Windhoek)",
        '<bdi>River stage</bdi><br><time datetime="2027-06-04T17:30:00+00:00">Fri 4 June 2027, 19:30 (Windhoek)</time>',
        "Shishani",
        '<a href="https://coffee.example" rel="sponsored noopener" dir="auto">Kalahari Coffee</a>',
        '<a class="button" href="https://tickets.example/dunes" rel="noopener">Get tickets</a>',
        f'<a href="/apply/{event["id"]}">Apply for a stall</a>',
        "<bdi>Windhoek Lights</bdi></p>",
        "mailto:office@lights.example",
        'href="/e/dune-nights.ics"',
    ):
        assert expected in page.text, expected


def test_acts_are_in_the_order_of_their_times(owner: Client, visitor: Visitor) -> None:
    late = {"name": "Gazza", "startsAt": "2027-06-04T22:00:00", "endsAt": "2027-06-04T23:30:00"}
    event = create_published_event(owner, lineup=[{"name": "Sean K"}, late, *LINEUP])
    page = visitor.open(f"/e/{event['slug']}").text
    places = [page.index(f">{name}<") for name in ("Ees", "Gazza", "Sean K", "Shishani")]
    assert places == sorted(places) and "Fri 4 June 2027, 22:00 to 23:30 (Windhoek)" in page


def test_a_day_ticket_says_when_it_is_valid(owner: Client, visitor: Visitor) -> None:
    day = {"priceMinor": 100, "quantity": 5}
    times = {"validFrom": "2027-06-05T10:00:00", "validUntil": "2027-06-06T02:00:00"}
    types = [
        {**day, **times, "name": "Saturday"},
        {**day, "name": "Late", "validFrom": times["validFrom"]},
        {**day, "name": "Early", "validUntil": times["validUntil"]},
        {**day, "name": "Always"},
    ]
    event = create_published_event(owner, ticketTypes=types)
    page = visitor.open(f"/e/{event['slug']}").text
    for expected in (
        "Valid Sat 5 June 2027, 10:00 to Sun 6 June 2027, 02:00 (Windhoek)",
        "Valid from Sat 5 June 2027, 10:00 (Windhoek)",
        "Valid until Sun 6 June 2027, 02:00 (Windhoek)",
    ):
        assert page.count(expected) == 1, expected
    assert page.count(">Valid ") == 3


def test_it_has_no_button_for_tickets_without_their_address(owner: Client, visitor: Visitor) -> None:
    event = create_published_event(owner, ticketTypes=None, capacity=10)
    page = visitor.open(f"/e/{event['slug']}").text
    assert "Apply for a stall" not in page, "it has no stall types"
    assert "Get tickets" not in page and "<h2>Tickets</h2>" not in page and 'class="cover"' not in page
    assert "https://www.openstreetmap.org/search?query=River+grounds%2C+Windhoek%2C+Namibia" in page


@pytest.mark.parametrize(
    ("phases", "words"),
    [
        ([{"quantity": 50}], " · then N$\u00a0850.00<"),
        ([{"quantity": 100}], None),
        ([{}], None),
        ([{"endsAt": "2027-03-01"}, {"priceMinor": 70000}], " · then N$\u00a0700.00<"),
        ([{"quantity": 50}, {"priceMinor": 70000, "startsAt": "2027-03-01"}], " · then N$\u00a0850.00<"),
        ([{"endsAt": "2027-03-01"}, {"priceMinor": 65000}], None),
        ([{"quantity": 50, "endsAt": "2027-03-01"}, {"priceMinor": 70000, "endsAt": "2027-02-01"}], None),
        ([{"endsAt": "2030-03-01"}], None),
        ([{"startsAt": "2027-03-01", "endsAt": "2027-03-02"}, {"quantity": 5}], " · then N$\u00a0850.00<"),
    ],
)
def test_it_says_the_price_after_the_present_phase(
    owner: Client, visitor: Visitor, phases: list[dict[str, Any]], words: str | None
) -> None:
    """Nothing where the price stays, the tickets end with the phase, or its end and its last ticket lead to other prices."""
    phases = [{"name": "Early bird", "priceMinor": 65000, **phase} for phase in phases]
    event = create_published_event(
        owner, ticketTypes=[{"name": "Pass", "priceMinor": 85000, "quantity": 100, "phases": phases}]
    )
    page = visitor.open(f"/e/{event['slug']}").text
    assert (words in page) if words else ("then N$" not in page)


@pytest.mark.parametrize(("sold", "words", "sells"), [(0, "", True), (95, "Few left", True), (100, "Sold out", False)])
def test_it_says_how_the_sale_goes(owner: Client, visitor: Visitor, sold: int, words: str, sells: bool) -> None:
    event = create_published_event(owner, ticketsUrl="https://tickets.example")
    set_sold(event, sold)
    page = visitor.open(f"/e/{event['slug']}").text
    assert words in page and ("Get tickets" in page) is sells
    assert words or not re.search("Few left|Sold out", page)


def test_an_event_that_is_over_says_so(owner: Client, visitor: Visitor) -> None:
    event = create_published_event(
        owner,
        startDate="2026-01-09",
        endDate="2026-01-10",
        ticketsUrl="https://tickets.example",
        stallTypes=STALL_TYPES,
    )
    page = visitor.open(f"/e/{event['slug']}").text
    assert "This event is over." in page and "Sales have ended" in page
    assert not re.search("Get tickets|Add to your calendar|Apply for a stall", page)


@pytest.mark.parametrize(
    ("state", "status"),
    [
        ("draft", 404),
        ("not due", 404),
        ("due", 200),
        ("published", 200),
        ("unlisted", 200),
        ("archived", 404),
        ("cancelled", 404),
    ],
)
def test_one_rule_applies_to_the_pages(client: Client, visitor: Visitor, state: str, status: int) -> None:
    event = in_state(create_organiser_client(client), state)
    page = visitor.open("/e/seen")
    assert page.status_code == status and page.mimetype == "text/html"
    assert status == 200 or ("<h1>Page not found</h1>" in page.text) is (state != "cancelled")
    assert ('<meta name="robots" content="noindex">' in page.text) is (state == "unlisted")
    calendar = visitor.open("/e/seen.ics")
    assert calendar.status_code == status
    assert calendar.headers.get("X-Robots-Tag") == ("noindex" if state == "unlisted" else None)
    by_id = visitor.open(f"/e/{event['id']}")
    assert (by_id.status_code, by_id.headers.get("Location")) == ((302, "/e/seen") if status == 200 else (404, None))
    is_listed = state in ("due", "published")
    assert ("/e/seen" in visitor.open("/events").text) is is_listed
    assert ("/e/seen" in visitor.open("/sitemap.xml").text) is is_listed


@pytest.mark.parametrize("way", ["cancel", "remove", "cancel when due"])
def test_an_event_that_was_public_says_that_it_is_cancelled(client: Client, visitor: Visitor, way: str) -> None:
    owner = create_organiser_client(client)
    event = in_state(owner, "due" if way == "cancel when due" else "published")
    assert visitor.open("/e/seen").status_code == 200
    if way == "remove":
        block_of(event)
        assert data(owner.delete(f"/api/events/{event['id']}"))["outcome"] == "cancelled"
    else:
        update_event(owner, event, visibility="cancelled")
    for address in ("/e/seen", f"/e/{event['id']}"):
        page = visitor.open(address)
        assert page.status_code == 404 and page.headers["Cache-Control"] == "no-store"
        assert "This event is cancelled." in page.text and event["name"] in page.text and "mailto:" in page.text
    assert visitor.open("/e/seen.ics").status_code == 404


def test_a_cancelled_event_of_a_deleted_organiser_is_not_shown(client: Client, visitor: Visitor) -> None:
    owner = create_organiser_client(client)
    update_event(owner, in_state(owner, "published"), visibility="cancelled")
    with transaction() as session:
        session.execute(
            text("UPDATE account SET email = id || '@deleted.invalid' WHERE id IN (SELECT organiser_id FROM event)")
        )
    page = visitor.open("/e/seen")
    assert page.status_code == 404 and "<h1>Page not found</h1>" in page.text and "mailto:" not in page.text


def test_a_draft_that_was_cancelled_is_not_shown(client: Client, visitor: Visitor) -> None:
    owner = create_organiser_client(client)
    event = in_state(owner, "not due")
    update_event(owner, event, visibility="cancelled")
    page = visitor.open("/e/seen")
    assert page.status_code == 404 and "<h1>Page not found</h1>" in page.text and event["name"] not in page.text


def test_an_event_whose_slug_is_its_id_has_a_page(owner: Client, visitor: Visitor) -> None:
    event = create_published_event(owner, name="مهرجان الصحراء")
    assert visitor.open(f"/e/{event['id']}").status_code == 200
    assert "مهرجان الصحراء" in visitor.page.text


@pytest.mark.parametrize("slug", ["unknown", "a" * 300, "%00", "..%2f", "dune%20nights", "DUNE"])
def test_unknown_addresses_are_not_found(visitor: Visitor, slug: str) -> None:
    assert visitor.open(f"/e/{slug}").status_code == 404


def test_hostile_texts_stay_texts(owner: Client, visitor: Visitor) -> None:
    event = create_published_event(
        owner,
        name=f"Dunes {HOSTILE}",
        description=HOSTILE * 5,
        venue=HOSTILE,
        city=HOSTILE,
        lineup=[{"name": HOSTILE, "stage": HOSTILE}],
        sponsors=[{"name": HOSTILE, "tier": HOSTILE}],
        ticketTypes=[{"name": HOSTILE, "description": HOSTILE, "priceMinor": 1, "quantity": 1}],
    )
    page = visitor.open(f"/e/{event['slug']}").text
    assert "<script>alert" not in page and "49" not in re.sub(r"\d{3,}|\w{10,}", "", page)
    found = read_structured_data(page)
    assert found["name"] == event["name"] and found["performer"][0]["name"] == event["lineup"][0]["name"]


def test_the_card_of_a_shared_link_is_absolute(owner: Client, visitor: Visitor, app: Flask) -> None:
    base, words = app.extensions["settings"].PUBLIC_BASE_URL, "word " * 100
    create_published_event(
        owner, name="Dune Nights", description=f"First\n\nline {words}", coverImageUrl=f"{base}/media/a.jpg"
    )
    page = visitor.open("/e/dune-nights").text
    found = read_properties(page)
    assert f'<link rel="canonical" href="{base}/e/dune-nights">' in page
    assert found["og:url"] == f"{base}/e/dune-nights" and found["og:title"] == "Dune Nights"
    assert found["og:image"] == found["twitter:image"] == f"{base}/media/a.jpg"
    assert found["twitter:card"] == "summary_large_image" and '<img class="cover" src="/media/a.jpg" alt="">' in page
    assert found["og:description"] == found["twitter:description"] == found["description"]
    assert ". First line word word" in found["description"] and found["description"].endswith("word…")
    assert len(found["description"]) <= 201


@pytest.mark.parametrize(
    ("ends_at", "language", "days"),
    [
        ("2026-12-06T23:00:00", "en", "Fri 4 – Sun 6 December 2026"),
        ("2026-12-07T02:00:00", "de", "Fr 4. – So 6. Dezember 2026"),
        ("2026-12-05T02:00:00", "af", "Vr 4 Desember 2026"),
    ],
)
def test_the_card_of_a_shared_link_begins_with_days_and_place(
    owner: Client, visitor: Visitor, ends_at: str, language: str, days: str
) -> None:
    create_published_event(
        owner,
        name="Dune Nights",
        description="Three nights.",
        startDate="2026-12-04T18:00:00",
        endDate=ends_at,
        venue="Jetty",
        city="Swakopmund",
    )
    found = read_properties(visitor.open(f"/e/dune-nights?lang={language}").text)
    assert found["og:description"] == f"{days}, Jetty, Swakopmund. Three nights."


def test_a_cover_of_another_site_is_not_loaded_by_visitors(owner: Client, visitor: Visitor) -> None:
    create_published_event(owner, name="Dune Nights", coverImageUrl="https://media.example.com/a.jpg")
    page = visitor.open("/e/dune-nights").text
    assert "<img" not in page and read_properties(page)["og:image"] == "https://media.example.com/a.jpg"


def test_structured_data_describes_the_event(owner: Client, visitor: Visitor, app: Flask) -> None:
    url = f"{app.extensions['settings'].PUBLIC_BASE_URL}/e/dune-nights"
    create_published_event(
        owner, name="Dune Nights", category="music", latitude=-22.5, longitude=17.0, ticketTypes=TYPES, lineup=LINEUP
    )
    found = read_structured_data(visitor.open("/e/dune-nights").text)
    assert (found["@context"], found["@type"], found["url"]) == ("https://schema.org", "MusicEvent", url)
    assert (found["startDate"], found["endDate"]) == ("2027-06-04T18:00+02:00", "2027-06-06T23:00+02:00")
    assert found["location"] == {
        "@type": "Place",
        "name": "River grounds",
        "address": {"@type": "PostalAddress", "addressLocality": "Windhoek", "addressCountry": "NA"},
        "geo": {"@type": "GeoCoordinates", "latitude": -22.5, "longitude": 17.0},
    }
    assert [offer["price"] for offer in found["offers"]] == ["650.00", "0.00", "500.00"]
    assert found["offers"][0]["availability"] == "https://schema.org/InStock"
    assert found["offers"][2] == {
        "@type": "Offer",
        "name": "Late pass",
        "price": "500.00",
        "priceCurrency": "NAD",
        "availability": "https://schema.org/PreOrder",
        "url": url,
        "validFrom": "2027-05-01T06:00:00+00:00",
    }
    assert "image" not in found


def read_calendar(content: str) -> dict[str, str]:
    """The properties of a calendar file, unfolded."""
    assert content.endswith("\r\n") and all(len(line.encode()) <= 75 for line in content.split("\r\n"))
    lines = content.replace("\r\n ", "").split("\r\n")
    return dict(line.split(":", 1) for line in lines if line)


def test_the_calendar_file_has_the_event(owner: Client, visitor: Visitor, app: Flask) -> None:
    base = app.extensions["settings"].PUBLIC_BASE_URL
    event = create_published_event(
        owner,
        name="Dune; Nights, \\ ǃnūkhoen " + "ö" * 100,
        slug="dunes",
        description="One\nTwo",
        latitude=-22.5,
        longitude=17,
    )
    response = visitor.open("/e/dunes.ics")
    assert response.content_type == "text/calendar; charset=utf-8"
    assert response.headers["Content-Disposition"] == 'attachment; filename="dunes.ics"'
    found = read_calendar(response.text)
    assert found["DTSTART"] == "20270604T160000Z" and found["DTEND"] == "20270606T210000Z"
    assert found["SUMMARY"] == "Dune\\; Nights\\, \\\\ ǃnūkhoen " + "ö" * 100
    assert found["LOCATION"] == "River grounds\\, Windhoek\\, Namibia" and found["GEO"] == "-22.500000;17.000000"
    assert found["DESCRIPTION"] == f"One\\nTwo\\n\\n{base}/e/dunes" and found["UID"] == f"event-{event['id']}@localhost"
    assert abs(datetime.strptime(found["DTSTAMP"], "%Y%m%dT%H%M%S%z") - datetime.now(UTC)).total_seconds() < 60
    update_event(owner, event, venue="Dam")
    changed = read_calendar(visitor.open("/e/dunes.ics").text)
    assert int(changed["SEQUENCE"]) == int(found["SEQUENCE"]) + 1 and changed["UID"] == found["UID"]


def test_crawlers_may_visit_public_pages_only(visitor: Visitor, app: Flask) -> None:
    page = visitor.open("/robots.txt")
    assert page.mimetype == "text/plain" and "Allow: /e/\n" in page.text and "Disallow: /\n" in page.text
    assert f"Sitemap: {app.extensions['settings'].PUBLIC_BASE_URL}/sitemap.xml" in page.text


def test_the_start_page_leads_to_the_events(visitor: Visitor) -> None:
    assert 'href="/events"' in visitor.open("/").text


def test_a_page_is_in_the_language_of_its_visitor(owner: Client, visitor: Visitor) -> None:
    create_published_event(owner, name="Dune Nights", ticketsUrl="https://tickets.example")
    for language, words in (("de-NA", "Tickets kaufen"), ("af", "Kry kaartjies"), ("fr", "Get tickets")):
        visitor.options["headers"] = {"Accept-Language": language}
        page = visitor.open("/e/dune-nights")
        assert words in page.text, language


def test_the_api_and_the_page_agree(owner: Client, client: Client, visitor: Visitor) -> None:
    event = create_published_event(owner, ticketTypes=TYPES)
    inventory = data(client.get(f"/api/events/public/{event['id']}/ticket-inventory"))["ticketTypes"]
    offers = read_structured_data(visitor.open(f"/e/{event['slug']}").text)["offers"]
    assert [(offer["name"], round(float(offer["price"]) * 100)) for offer in offers] == [
        (type_["name"], type_["priceMinor"]) for type_ in inventory
    ]
