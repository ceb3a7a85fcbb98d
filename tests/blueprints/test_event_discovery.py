"""Discovery: filters, order and pages."""

from datetime import UTC, datetime, timedelta
from typing import Any

import orjson
import pytest

from app.blueprints.events.response_schemas import Discovered, Inventory, PublicEvent
from app.events import discovery
from app.web.schema import Schema
from tests.factories.events import WEEKEND, create_organiser_client, create_published_event, update_event
from tests.http import Client, data, list_problems

DISCOVER = "/api/events/public/discover"


@pytest.fixture
def owner(client: Client) -> Client:
    return create_organiser_client(client)


def names(client: Client, query: str = "") -> list[str]:
    return [event["name"] for event in data(client.get(f"{DISCOVER}?{query}"))["events"]]


def on(day: int, **fields: Any) -> dict[str, Any]:
    return {"startDate": f"2027-06-{day:02}T18:00:00", "endDate": f"2027-06-{day:02}T23:00:00", **fields}


def hence(**ahead: int) -> str:
    return (datetime.now(UTC) + timedelta(**ahead)).isoformat()


@pytest.mark.parametrize(
    ("q", "found"),
    [
        ("cafe", True),
        ("CAFÉ", True),
        ("caf", True),
        ("lig wind", True),
        ("afe", False),
        ("großmann", True),
        ("GROSSMANN", True),
        ("tjizembua", True),
        ("reggae", True),
        ("lodz", True),
        ("παπα", True),
        ("windhoek cape", False),
        ("' | ' & :* !", False),
    ],
)
def test_words_are_found_by_their_beginnings_without_case_and_accents(
    owner: Client, client: Client, q: str, found: bool
) -> None:
    create_published_event(
        owner,
        name="Café Lights",
        venue="Łódź Hall, Παπαδάκη",
        lineup=[{"name": "Tjizembua Großmann"}],
        keywords=["Reggae", "river"],
    )
    assert bool(data(client.get(DISCOVER, query_string={"q": q}))["events"]) is found


def test_search_without_matches_suggests_similar_names(owner: Client, client: Client) -> None:
    create_published_event(owner, name="Windhoek Lights")
    create_published_event(owner, name="Swakop Jazz", city="Swakopmund")
    create_published_event(owner, name="Secret Windhuk party", visibility="draft")
    found = data(client.get(f"{DISCOVER}?q=windhok"))
    assert found["events"] == [] and found["suggestions"][0] == "Windhoek Lights"
    assert data(client.get(f"{DISCOVER}?q=jazzz"))["suggestions"] == ["Swakop Jazz"]
    assert data(client.get(f"{DISCOVER}?q=qqqqq"))["suggestions"] == []
    assert "suggestions" not in data(client.get(f"{DISCOVER}?q=jazz"))
    assert "suggestions" not in data(client.get(f"{DISCOVER}?city=Paris"))


def test_filters_are_combined(owner: Client, client: Client) -> None:
    create_published_event(owner, **on(1, name="One", city="Lüderitz", category="music", isCashless=True))
    create_published_event(owner, **on(2, name="Two", city="Lüderitz", category="food"))
    create_published_event(owner, **on(3, name="Three", city="Windhoek", category="music"))
    assert names(client, "city=luderitz") == ["One", "Two"]
    assert names(client, "category=music") == ["One", "Three"]
    assert names(client, "cashless=true") == ["One"] and names(client, "cashless=false") == ["Two", "Three"]
    assert names(client, "from=2027-06-02") == ["Two", "Three"]
    assert names(client, "to=2027-06-02") == ["One", "Two"]
    assert names(client, "from=2027-06-02T00:00:00Z&to=2027-06-02") == ["Two"]
    assert names(client, "city=Lüderitz&category=food&q=tw") == ["Two"]
    listed = data(client.get("/api/events?city=luderitz&category=music&withTotal=true"))
    assert [event["name"] for event in listed["events"]] == ["One"] and listed["pagination"]["total"] == 1


def test_running_events_are_listed_and_past_events_are_not(owner: Client, client: Client) -> None:
    create_published_event(owner, name="Over", startDate=hence(days=-9), endDate=hence(hours=-1))
    create_published_event(owner, name="Running", startDate=hence(days=-8), endDate=hence(days=1))
    create_published_event(owner, name="Coming", startDate=hence(days=1), endDate=hence(days=2))
    assert names(client) == ["Running", "Coming"]
    assert names(client, "limit=1") == ["Running"]
    assert [event["name"] for event in data(client.get("/api/events"))["events"]] == ["Running", "Coming"]
    assert names(client, "from=2020-01-01") == ["Over", "Running", "Coming"]


@pytest.mark.parametrize("near", [(), (1,), (2, 4), (600, 3000)])
def test_search_result_does_not_depend_on_the_windows(
    owner: Client, client: Client, monkeypatch: pytest.MonkeyPatch, near: tuple[int, ...]
) -> None:
    create_published_event(owner, name="Jazz running", startDate=hence(days=-8), endDate=hence(days=1))
    create_published_event(owner, name="Jazz over", startDate=hence(days=-9), endDate=hence(days=-7))
    for day in range(1, 8):
        create_published_event(owner, **on(day, name=f"{'Jazz' if day % 3 == 0 else 'Rock'} {day}"))
    monkeypatch.setattr(discovery, "NEAR", near)
    assert names(client, "q=jazz") == ["Jazz running", "Jazz 3", "Jazz 6"]
    assert names(client, "q=jazz&from=2027-06-04") == ["Jazz 6"]
    assert names(client, "q=jazz&limit=2&city=windhoek") == ["Jazz running", "Jazz 3"]
    seen, cursor = [], ""
    while cursor is not None:
        page = data(client.get(f"{DISCOVER}?q=jazz&limit=1{cursor}"))
        seen += [event["name"] for event in page["events"]]
        cursor = page["pagination"]["nextCursor"]
        cursor = cursor and f"&cursor={cursor}"
    assert seen == ["Jazz running", "Jazz 3", "Jazz 6"]


def test_events_are_filtered_and_sorted_by_distance(owner: Client, client: Client) -> None:
    create_published_event(owner, name="Swakop", latitude=-22.68, longitude=14.53)
    create_published_event(owner, name="Windhoek", latitude=-22.56, longitude=17.07)
    create_published_event(owner, name="Okahandja", latitude=-21.98, longitude=16.91)
    create_published_event(owner, name="Nowhere")
    here = "lat=-22.57&lng=17.08"
    assert names(client, f"{here}&sort=distance") == ["Windhoek", "Okahandja", "Swakop"]
    assert names(client, f"{here}&radiusKm=100&sort=distance") == ["Windhoek", "Okahandja"]
    assert names(client, f"{here}&radiusKm=3") == ["Windhoek"]
    assert names(client, "lat=0&lng=180&radiusKm=20037&sort=distance")[0] in {"Windhoek", "Okahandja", "Swakop"}
    assert list_problems(client.get(f"{DISCOVER}?lat=1")) == {"lng": "required"}
    assert list_problems(client.get(f"{DISCOVER}?radiusKm=5")) == {"lat": "required"}
    assert list_problems(client.get(f"{DISCOVER}?sort=distance")) == {"lat": "required"}
    assert list_problems(client.get(f"{DISCOVER}?lat=91&lng=0")) == {"lat": "too_large"}


def test_radius_crosses_the_date_line(owner: Client, client: Client) -> None:
    create_published_event(owner, name="Fiji", latitude=-17.0, longitude=179.9)
    assert names(client, "lat=-17&lng=-179.9&radiusKm=50") == ["Fiji"]


def test_names_rank_higher_than_other_words(owner: Client, client: Client) -> None:
    create_published_event(owner, **on(1, name="Braai day", keywords=["jazz"]))
    create_published_event(owner, **on(2, name="Jazz night"))
    assert names(client, "q=jazz") == ["Braai day", "Jazz night"]
    assert names(client, "q=jazz&sort=relevance") == ["Jazz night", "Braai day"]
    assert names(client, "sort=relevance") == ["Braai day", "Jazz night"]


@pytest.mark.parametrize("sort", ["startsAt", "relevance&q=lights", "distance&lat=-22&lng=17"])
def test_pages_have_every_event_once_while_events_are_added(owner: Client, client: Client, sort: str) -> None:
    made = [
        create_published_event(owner, **on(n // 2 + 1, name=f"Lights {n}", latitude=-22 - (n // 2) / 10, longitude=17))[
            "id"
        ]
        for n in range(7)
    ]
    seen: list[str] = []
    cursor = ""
    while True:
        found = data(client.get(f"{DISCOVER}?limit=2&sort={sort}{cursor}"))
        seen += [event["id"] for event in found["events"]]
        create_published_event(owner, **on(1, name="Lights added", latitude=-22, longitude=17))
        if not found["pagination"]["nextCursor"]:
            break
        cursor = f"&cursor={found['pagination']['nextCursor']}"
        if len(seen) > 30:
            pytest.fail("pages go on for ever")
    assert len(seen) == len(set(seen)) and set(made) <= set(seen)


def test_a_minus_reverses_the_order_of_starts(owner: Client, client: Client) -> None:
    for day in (3, 1, 2):
        create_published_event(owner, **on(day, name=f"Day {day}"))
    assert names(client, "sort=-startsAt") == ["Day 3", "Day 2", "Day 1"]
    assert names(client, "sort=-startsAt&q=day") == ["Day 3", "Day 2", "Day 1"]
    listed: list[str] = []
    cursor = ""
    while cursor is not None:
        page = data(client.get(f"{DISCOVER}?sort=-startsAt&limit=1{cursor and '&cursor=' + cursor}"))
        listed += [event["name"] for event in page["events"]]
        cursor = page["pagination"]["nextCursor"]
    assert listed == ["Day 3", "Day 2", "Day 1"]


def test_cursor_belongs_to_its_sort(owner: Client, client: Client) -> None:
    for _ in range(2):
        create_published_event(owner)
    cursor = data(client.get(f"{DISCOVER}?limit=1"))["pagination"]["nextCursor"]
    assert list_problems(client.get(f"{DISCOVER}?sort=relevance&q=a&cursor={cursor}")) == {"cursor": "invalid_cursor"}
    assert list_problems(client.get(f"{DISCOVER}?cursor=x")) == {"cursor": "invalid_cursor"}
    assert list_problems(client.get(f"{DISCOVER}?limit=101")) == {"limit": "too_large"}
    assert client.get(f"{DISCOVER}?colour=red").status_code == 200


FULL = {
    "description": "d",
    "latitude": 1.5,
    "longitude": 2.5,
    "category": "music",
    "keywords": ["k"],
    "capacity": 5,
    "salesEndAt": "2027-06-05",
    "promoCodes": [{"code": "SECRET", "percentOff": 5}],
    "promotion": {"headline": "H"},
    "ticketTypes": [{**WEEKEND, "phases": [{"name": "Early", "priceMinor": 5, "endsAt": "2027-01-01"}]}],
    "lineup": [{"name": "Ees", "startsAt": "2027-06-04T20:00"}],
    "sponsors": [{"name": "S"}],
}
SUMMARY_KEYS = ["id", "name", "city", "venue", "startsAt", "coverImageUrl", "isCashless"]
PAGE_KEYS = [
    "allowedPaymentOptionSlugs",
    "applicationsEndAt",
    "bulkDiscounts",
    "category",
    "city",
    "country",
    "coverImageUrl",
    "currency",
    "description",
    "endsAt",
    "id",
    "isCashless",
    "keywords",
    "latitude",
    "lineup",
    "longitude",
    "name",
    "organiserName",
    "paymentMethodDiscounts",
    "posterImageUrl",
    "promotion",
    "salesEndAt",
    "slug",
    "sponsors",
    "stallTypes",
    "startsAt",
    "tables",
    "ticketTypes",
    "ticketsUrl",
    "timezone",
    "venue",
]
TYPE_KEYS = [
    "description",
    "id",
    "maxPerOrder",
    "minPerOrder",
    "name",
    "phases",
    "priceMinor",
    "validFrom",
    "validUntil",
]
STOCK_KEYS = ["allocated", "available", "id", "name", "phase", "phaseEndsAt", "priceMinor", "sold", "status", "total"]


def test_public_responses_have_exactly_these_keys(owner: Client, client: Client) -> None:
    made = create_published_event(owner, **FULL)
    assert list(data(client.get(DISCOVER))["events"][0]) == SUMMARY_KEYS
    answer = client.get(f"/api/events/public/{made['id']}")
    page = data(answer)
    assert sorted(page) == PAGE_KEYS and sorted(page["ticketTypes"][0]) == TYPE_KEYS
    assert sorted(page["ticketTypes"][0]["phases"][0]) == ["endsAt", "name", "priceMinor", "quantity", "startsAt"]
    stock = data(client.get(f"/api/events/public/{made['id']}/ticket-inventory"))
    assert sorted(stock) == ["currency", "eventId", "salesEndAt", "ticketTypes"]
    assert sorted(stock["ticketTypes"][0]) == STOCK_KEYS
    assert b"SECRET" not in answer.data and made["organiserId"].encode() not in answer.data


@pytest.mark.parametrize(
    ("path", "schema"),
    [
        (f"{DISCOVER}?q=lights", Discovered),
        (f"{DISCOVER}?q=ligths", Discovered),
        ("/api/events/public/{id}", PublicEvent),
        ("/api/events/public/{id}/ticket-inventory", Inventory),
    ],
)
def test_ready_json_matches_the_schema(owner: Client, client: Client, path: str, schema: type[Schema]) -> None:
    made = create_published_event(owner, **FULL)
    answer = client.get(path.format(**made))
    operation = path.partition("?")[0]
    document = client.get("/openapi.json").get_json()
    described = document["paths"][operation]["get"]["responses"]["200"]["content"]["application/json"]["schema"]
    import jsonschema_rs

    validator = jsonschema_rs.validator_for({**described, "components": document["components"]})
    validator.validate(orjson.loads(answer.data))
    assert set(data(answer)) <= {field.data_key for field in schema().dump_fields.values()}


def test_etag_gives_304_until_a_change(owner: Client, client: Client) -> None:
    made = create_published_event(owner)
    for path in (DISCOVER, f"/api/events/public/{made['id']}", f"/api/events/public/{made['id']}/ticket-inventory"):
        first = client.get(path)
        again = client.with_(If_None_Match=first.headers["ETag"]).get(path)
        assert again.status_code == 304 and again.data == b"" and again.headers["ETag"] == first.headers["ETag"]
        assert client.with_(If_None_Match=f"W/{first.headers['ETag']}").get(path).status_code == 304
        assert client.with_(If_None_Match='"other"').get(path).status_code == 200
        assert first.headers["X-Request-Id"] != client.get(path).headers["X-Request-Id"]
    tag = client.get(DISCOVER).headers["ETag"]
    update_event(owner, made, name="Another name")
    assert client.with_(If_None_Match=tag).get(DISCOVER).status_code == 200
