"""Invalid events: each problem is reported, and nothing changes."""

from typing import Any

import pytest

from tests.factories.events import build_event_body, create_event, create_organiser_client, create_published_event
from tests.http import Client, data, list_problems, read_error

TYPE = {"name": "Day", "priceMinor": 100, "quantity": 5}


@pytest.fixture
def owner(client: Client) -> Client:
    return create_organiser_client(client)


BAD: list[tuple[dict[str, Any], str, str]] = [
    ({"latitude": 90.01}, "latitude", "too_large"),
    ({"latitude": -90.01}, "latitude", "too_small"),
    ({"longitude": 180.5}, "longitude", "too_large"),
    ({"latitude": "12"}, "latitude", "invalid_type"),
    ({"endDate": "2027-06-04T17:00:00"}, "endDate", "contradiction"),
    ({"endDate": "2027-06-04T18:00:00"}, "endDate", "contradiction"),
    ({"startDate": "tomorrow"}, "startDate", "invalid_time"),
    ({"startDate": "0001-01-01T00:00:00"}, "startDate", "invalid_time"),
    ({"salesEndAt": "2027-06-07T00:00:00"}, "salesEndAt", "contradiction"),
    ({"applicationsEndAt": "2027-06-07T00:00:00"}, "applicationsEndAt", "contradiction"),
    ({"applicationsEndAt": "soon"}, "applicationsEndAt", "invalid_time"),
    ({"timezone": "Africa/Atlantis"}, "timezone", "unknown_value"),
    ({"timezone": "../etc/passwd"}, "timezone", "unknown_value"),
    ({"country": "Atlantis"}, "country", "unknown_value"),
    ({"name": "x"}, "name", "too_short"),
    ({"name": "x" * 201}, "name", "too_long"),
    ({"name": "bell\x07"}, "name", "invalid_characters"),
    ({"description": ""}, "description", "too_short"),
    ({"capacity": -1}, "capacity", "too_small"),
    ({"capacity": 1.5}, "capacity", "invalid_type"),
    ({"capacity": "100"}, "capacity", "invalid_type"),
    ({"isCashless": "yes"}, "isCashless", "invalid_type"),
    ({"visibility": "hidden"}, "visibility", "unknown_value"),
    ({"category": "circus"}, "category", "unknown_value"),
    ({"keywords": ["x" * 81]}, "keywords[0]", "too_long"),
    ({"keywords": ""}, "keywords[0]", "too_short"),
    ({"coverImageUrl": "http://example.com/a.jpg"}, "coverImageUrl", "invalid_url"),
    ({"coverImageUrl": "https://user:pw@example.com/a.jpg"}, "coverImageUrl", "invalid_url"),
    ({"coverImageUrl": "javascript:alert(1)"}, "coverImageUrl", "invalid_url"),
    ({"coverImageUrl": "https://example.com/" + "x" * 2048}, "coverImageUrl", "too_long"),
    ({"publishAt": "2020-01-01T00:00:00"}, "publishAt", "not_in_future"),
    ({"lineup": [{"name": "Ees"}] * 81}, "lineup", "too_long"),
    ({"lineup": [{"stage": "River"}]}, "lineup[0].name", "required"),
    (
        {"lineup": [{"name": "E", "startsAt": "2027-06-05T20:00", "endsAt": "2027-06-05T19:00"}]},
        "lineup[0].endsAt",
        "contradiction",
    ),
    ({"promoCodes": [{"code": "A", "percentOff": 101}]}, "promoCodes[0].percentOff", "too_large"),
    ({"promoCodes": [{"code": "A"}]}, "promoCodes[0]", "contradiction"),
    ({"promoCodes": [{"code": "A", "percentOff": 1, "amountOffMinor": 5}]}, "promoCodes[0]", "contradiction"),
    (
        {"promoCodes": [{"code": "A", "percentOff": 1}, {"code": "a", "percentOff": 2}]},
        "promoCodes[1].code",
        "duplicate",
    ),
    (
        {"promoCodes": [{"code": "A", "percentOff": 1, "ticketTypeIds": ["6565a1f0c3d2e1b0a9f8e7d6"]}]},
        "promoCodes[0].ticketTypeIds",
        "unknown_value",
    ),
    ({"ticketTypes": [{**TYPE, "priceMinor": 1.5}]}, "ticketTypes[0].priceMinor", "invalid_type"),
    ({"ticketTypes": [{**TYPE, "priceMinor": -1}]}, "ticketTypes[0].priceMinor", "too_small"),
    ({"ticketTypes": [{**TYPE, "quantity": 10**12}]}, "ticketTypes[0].quantity", "too_large"),
    ({"ticketTypes": [{"name": "Day", "priceMinor": 1}]}, "ticketTypes[0].quantity", "required"),
    ({"ticketTypes": [TYPE, {**TYPE, "name": "DAY "}]}, "ticketTypes[1].name", "duplicate"),
    ({"ticketTypes": [{**TYPE, "id": "6565a1f0c3d2e1b0a9f8e7d6"}]}, "ticketTypes[0].id", "unknown_value"),
    ({"ticketTypes": [{**TYPE, "minPerOrder": 5, "maxPerOrder": 2}]}, "ticketTypes[0].maxPerOrder", "contradiction"),
    (
        {
            "ticketTypes": [
                {
                    **TYPE,
                    "phases": [{"name": "Early", "priceMinor": 5, "startsAt": "2027-01-02", "endsAt": "2027-01-01"}],
                }
            ]
        },
        "ticketTypes[0].phases[0].endsAt",
        "contradiction",
    ),
    ({"bulkDiscounts": [{"minQuantity": 0, "percentOff": 5}]}, "bulkDiscounts[0].minQuantity", "too_small"),
    (
        {"paymentMethodDiscounts": [{"slug": "a", "percentOff": 100.5}]},
        "paymentMethodDiscounts[0].percentOff",
        "too_large",
    ),
    ({"tables": [{"name": "Front", "seats": 0, "priceMinor": 1}]}, "tables[0].seats", "too_small"),
    ({"stallTypes": [{"name": "Food", "feeMinor": 1.5}]}, "stallTypes[0].feeMinor", "invalid_type"),
    (
        {"stallTypes": [{"name": "Food", "feeMinor": 1}, {"name": "food", "feeMinor": 2}]},
        "stallTypes[1].name",
        "duplicate",
    ),
    ({"sponsors": [{"name": "S", "href": "javascript:alert(1)"}]}, "sponsors[0].href", "invalid_url"),
    ({"promotion": {"headline": "x" * 201}}, "promotion.headline", "too_long"),
    ({"promotion": []}, "promotion", "invalid_type"),
    ({"colour": "red"}, "colour", "unknown_field"),
]


@pytest.mark.parametrize(("fields", "path", "code"), BAD)
def test_invalid_field_is_reported_and_nothing_is_created(
    owner: Client, fields: dict[str, Any], path: str, code: str
) -> None:
    assert list_problems(owner.post("/api/events", build_event_body(**fields))) == {path: code}
    assert data(owner.get("/api/events?mine=true"))["events"] == []


@pytest.mark.parametrize(("fields", "path", "code"), BAD)
def test_invalid_change_is_reported_and_nothing_is_changed(
    owner: Client, fields: dict[str, Any], path: str, code: str
) -> None:
    made = create_event(owner, ticketTypes=[{**TYPE, "name": "Other"}])
    assert list_problems(owner.patch(f"/api/events/{made['id']}", fields)) == {path: code}
    assert data(owner.get(f"/api/events/{made['id']}")) == made


def test_all_problems_are_reported_under_the_sent_names(owner: Client) -> None:
    sent = {**build_event_body(), "name": "", "latitude": 91, "country": "??", "startsAt": "never"}
    del sent["startDate"], sent["city"]
    assert list_problems(owner.post("/api/events", sent)) == {
        "name": "too_short",
        "latitude": "too_large",
        "country": "unknown_value",
        "startsAt": "invalid_time",
        "city": "required",
    }


def test_six_fields_are_required(owner: Client) -> None:
    found = list_problems(owner.post("/api/events", {}))
    assert found == dict.fromkeys(["name", "startDate", "endDate", "venue", "city", "country"], "required")


def test_starts_at_is_the_same_as_start_date(owner: Client) -> None:
    sent = build_event_body(startsAt="2027-06-04T18:00:00Z", endsAt="2027-06-05T18:00:00Z")
    del sent["startDate"], sent["endDate"]
    made = data(owner.post("/api/events", sent), 201)
    assert made["startsAt"] == "2027-06-04T18:00:00.000Z"
    both = {**sent, "startDate": "2027-06-04T18:00:00Z"}
    assert data(owner.post("/api/events", both), 201)["startsAt"] == made["startsAt"]
    assert list_problems(owner.post("/api/events", {**sent, "startDate": "2027-06-03"})) == {
        "startDate": "contradiction"
    }
    wrong = {**sent, "endsAt": "2027-06-03"}
    assert list_problems(owner.post("/api/events", wrong)) == {"endsAt": "contradiction"}


def test_markup_in_a_name_stays_text(owner: Client, client: Client) -> None:
    made = create_published_event(owner, name="<script>alert(1)</script>")
    assert made["name"] == "<script>alert(1)</script>"
    answer = client.get(f"/api/events/public/{made['id']}")
    assert answer.mimetype == "application/json" and data(answer)["name"] == made["name"]


def test_every_field_is_returned_as_sent(owner: Client) -> None:
    sent = {
        "description": "Two nights",
        "coverImageUrl": "https://example.com/c.jpg",
        "posterImageUrl": "https://example.com/p.jpg",
        "latitude": -22.5609,
        "longitude": 17.0658,
        "timezone": "Africa/Windhoek",
        "capacity": 5000,
        "category": "music",
        "keywords": ["reggae", "river"],
        "isCashless": True,
        "allowedPaymentOptionSlugs": ["payrail"],
        "promoCodes": [{"code": "EARLY", "percentOff": 12.5, "maxUses": 3}, {"code": "FIVE", "amountOffMinor": 500}],
        "bulkDiscounts": [{"minQuantity": 10, "percentOff": 5}],
        "paymentMethodDiscounts": [{"slug": "payrail", "percentOff": 2.5}],
        "sponsors": [{"name": "Coffee", "tier": "gold", "href": "https://example.com"}],
        "stallTypes": [{"name": "Food", "feeMinor": 150000, "quantity": 40}],
        "tables": [{"name": "Front", "seats": 8, "priceMinor": 800000, "quantity": 10}],
        "promotion": {"headline": "Two nights", "href": "/lights"},
    }
    made = create_event(owner, **sent)
    assert {name: made[name] for name in sent} == sent
    later = create_event(owner, lineup=[{"name": "Ees", "stage": "River", "startsAt": "2027-06-05T20:00:00"}])
    assert later["lineup"] == [{"name": "Ees", "stage": "River", "startsAt": "2027-06-05T18:00:00.000Z"}]


def test_response_can_be_sent_back(owner: Client) -> None:
    made = create_published_event(
        owner,
        keywords="river",
        lineup=[{"name": "Ees", "startsAt": "2027-06-05T20:00:00"}],
        promoCodes=[{"code": "A", "percentOff": 5}],
        promotion={"headline": "H"},
        ticketTypes=[{**TYPE, "phases": [{"name": "Early", "priceMinor": 5, "quantity": 2}]}],
    )
    kept = {
        name: value
        for name, value in made.items()
        if name not in ("id", "version", "organiserId", "currency", "createdAt", "updatedAt")
    }
    again = data(owner.patch(f"/api/events/{made['id']}", kept))
    assert again == made
    assert made["keywords"] == ["river"]


def test_null_clears_optional_fields(owner: Client) -> None:
    made = create_event(
        owner,
        description="x",
        latitude=1,
        longitude=1,
        capacity=5,
        category="food",
        keywords=["a"],
        coverImageUrl="https://example.com/c.jpg",
        promotion={"headline": "H"},
    )
    names = ("description", "latitude", "longitude", "capacity", "category", "coverImageUrl", "promotion")
    cleared = data(owner.patch(f"/api/events/{made['id']}", {**dict.fromkeys(names), "keywords": None}))
    assert [cleared[name] for name in names] == [None] * 7 and cleared["keywords"] == []
    assert list_problems(owner.patch(f"/api/events/{made['id']}", {"name": None})) == {"name": "required"}


def test_empty_url_clears_the_field(owner: Client) -> None:
    made = create_event(owner, coverImageUrl="https://example.com/c.jpg", promotion={"href": "", "imageUrl": ""})
    assert made["promotion"] == {}
    assert data(owner.patch(f"/api/events/{made['id']}", {"coverImageUrl": ""}))["coverImageUrl"] is None


@pytest.mark.parametrize("raw", ['{"name": NaN}', '{"latitude": Infinity}', '{"name": "a", "name": "b"', "[]", '"x"'])
def test_body_must_be_an_object(owner: Client, raw: str) -> None:
    answer = owner.post("/api/events", data=raw, content_type="application/json")
    assert read_error(answer)[0] in (400, 422)


@pytest.mark.parametrize(
    ("country", "code", "zone"),
    [
        ("NA", "NA", "Africa/Windhoek"),
        ("namibia", "NA", "Africa/Windhoek"),
        ("Germany", "DE", "Europe/Berlin"),
        ("South Africa", "ZA", "Africa/Johannesburg"),
        ("Côte d'Ivoire", "CI", "Africa/Abidjan"),
        ("United Kingdom", "GB", "Europe/London"),
        ("USA", "US", "America/New_York"),
        ("AU", "AU", "Australia/Sydney"),
    ],
)
def test_time_zone_follows_the_country(owner: Client, country: str, code: str, zone: str) -> None:
    made = create_event(owner, country=country)
    assert (made["country"], made["timezone"]) == (code, zone)
