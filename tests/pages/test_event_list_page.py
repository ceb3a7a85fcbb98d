"""The public list of events: search, filters, pages, and the cache before it and the pages of events."""

import re
from collections.abc import Iterator

import pytest
from flask import Flask, template_rendered
from jinja2 import Template
from sqlalchemy import text
from werkzeug.test import TestResponse

from app.blueprints.pages import event_list
from app.core.db import db
from tests.factories.events import create_event, create_organiser_client, create_published_event, update_event
from tests.http import Client
from tests.pages.pages import Visitor


@pytest.fixture
def owner(client: Client) -> Client:
    return create_organiser_client(client)


def read_names(page: TestResponse) -> list[str]:
    return re.findall(r'<a href="/e/[^"]+" dir="auto">([^<]+)</a>', page.text)


def test_filters_find_events(owner: Client, visitor: Visitor) -> None:
    create_published_event(owner, name="Dune Nights", city="Lüderitz", category="music", startDate="2027-01-02")
    create_published_event(owner, name="River Fair", category="food", startDate="2027-02-02", keywords=["kapana"])
    create_event(owner, name="Draft")
    both = ["Dune Nights", "River Fair"]
    for query, names in (
        ("", both),
        ("?q=&city=&category=&from=&to=", both),
        ("?q=dun", both[:1]),
        ("?q=KAPANA", both[1:]),
        ("?city=luderitz", both[:1]),
        ("?category=food", both[1:]),
        ("?from=2027-01-03", both[1:]),
        ("?to=2027-01-02", both[:1]),
        ("?from=2027-01-02&to=2027-02-02", both),
        ("?unknown=1", both),
    ):
        assert read_names(visitor.open(f"/events{query}")) == names, query


@pytest.mark.parametrize("query", ["", "?q=dune", "?from=2027-01-01"])
def test_the_list_says_when_an_event_of_several_days_ends(owner: Client, visitor: Visitor, query: str) -> None:
    create_published_event(owner, name="Dune Nights")
    create_published_event(owner, name="Dune Fair", endDate="2027-06-04T23:00:00")
    page = visitor.open(f"/events{query}").text
    assert ">Fri 4 June 2027, 18:00 to Sun 6 June 2027, 23:00 (Windhoek)</time>" in page
    assert ">Fri 4 June 2027, 18:00 (Windhoek)</time>" in page


def test_a_search_that_finds_nothing_suggests_names(owner: Client, visitor: Visitor) -> None:
    create_published_event(owner, name="Windhoek Lights")
    page = visitor.open("/events?q=windhuk+lights").text
    assert "No event matches your search." in page
    assert '<a href="/events?q=Windhoek+Lights"><bdi>Windhoek Lights</bdi></a>' in page


def test_an_empty_list_says_what_will_be_here(visitor: Visitor) -> None:
    assert "There are no events at the moment." in visitor.open("/events").text


def test_all_problems_are_said_at_once_and_what_was_typed_stays(visitor: Visitor) -> None:
    page = visitor.open(f"/events?q={'x' * 201}&from=soon&to=2027-13-01&category=jazz&city=%3Cb%3E")
    assert page.status_code == 422 and page.text.count('class="error"') == 4
    assert 'value="soon"' in page.text and 'value="&lt;b&gt;"' in page.text


@pytest.mark.parametrize("query", ["q=%00", "q=%ff", "cursor=x", "cursor=%00", "cursor=AAAA", "lang=xx", "q=%E2%80%AE"])
def test_broken_queries_are_no_error_of_ours(visitor: Visitor, query: str) -> None:
    assert visitor.open(f"/events?{query}").status_code in (200, 422)


def test_pages_follow_each_other_without_gap(owner: Client, visitor: Visitor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_list, "PAGE_SIZE", 2)
    names = [f"Night {number}" for number in range(5)]
    for day, name in enumerate(names, 1):
        create_published_event(owner, name=name, startDate=f"2027-01-0{day}")
    page, found = visitor.open("/events?q=night"), []
    for _ in range(3):
        found += read_names(page)
        if next_path := re.search(r'href="([^"]+)" rel="next"', page.text):
            assert "q=night" in next_path[1]
            page = visitor.open(next_path[1].replace("&amp;", "&"))
    assert found == names and 'rel="next"' not in page.text and "First page" in page.text


@pytest.fixture
def counted(app: Flask) -> Iterator[list[str]]:
    """The names of the templates that were rendered."""
    rendered: list[str] = []

    def note(sender: object, template: Template, **_: object) -> None:
        rendered.append(str(template.name))

    with template_rendered.connected_to(note, app):
        yield rendered


@pytest.mark.parametrize("path", ["/e/dune-nights", "/events"])
def test_a_page_is_kept_until_its_event_changes(owner: Client, visitor: Visitor, counted: list[str], path: str) -> None:
    event = create_published_event(owner, name="Dune Nights")
    first = visitor.open(path)
    second = visitor.open(path)
    assert len(counted) == 1 and second.data == first.data and second.content_type == first.content_type
    same = {"ETag", "Content-Security-Policy", "Vary", "Content-Language", "Cache-Control", "Content-Type"}
    assert {name: second.headers[name] for name in same} == {name: first.headers[name] for name in same}
    assert first.headers["Vary"] == "Accept-Language, Cookie" and first.headers["Cache-Control"] == "no-cache"
    known = visitor.flask.get(path, headers={"If-None-Match": first.headers["ETag"]})
    assert (known.status_code, known.data, len(counted)) == (304, b"", 1)
    update_event(owner, event, city="Rundu")
    third = visitor.open(path)
    assert "Rundu" in third.text and third.headers["ETag"] != first.headers["ETag"] and len(counted) == 2
    another = path + "?x=1"
    assert visitor.flask.get(another, headers={"If-None-Match": "*"}).status_code == 304
    assert visitor.open(another).status_code == 200 and "Rundu" in visitor.page.text, "a first 304 keeps the page"


def test_a_cancelled_event_is_gone_at_once(owner: Client, visitor: Visitor) -> None:
    event = create_published_event(owner, name="Dune Nights")
    assert visitor.open("/e/dune-nights").status_code == 200
    update_event(owner, event, visibility="cancelled")
    assert visitor.open("/e/dune-nights").status_code == 404 and read_names(visitor.open("/events")) == []


def test_each_language_is_kept_by_itself(owner: Client, visitor: Visitor, counted: list[str]) -> None:
    create_published_event(owner, name="Dune Nights")

    def read_language(accepted: str) -> str:
        visitor.options["headers"] = {"Accept-Language": accepted}
        return visitor.open("/e/dune-nights").headers["Content-Language"]

    for accepted, language in (("de", "de"), ("af;q=0.9,de;q=0.1", "af"), ("fr", "en"), ("de-AT", "de")) * 2:
        assert read_language(accepted) == language
    assert len(counted) == 3


def test_a_chosen_language_stays_with_its_visitor(app: Flask, owner: Client, visitor: Visitor) -> None:
    create_published_event(owner, name="Dune Nights")
    assert visitor.open("/e/dune-nights?lang=de").headers["Content-Language"] == "de"
    assert visitor.open("/e/dune-nights").headers["Content-Language"] == "de"
    other = Visitor(app.test_client())
    assert "Set-Cookie" not in other.open("/e/dune-nights").headers
    assert other.page.headers["Content-Language"] == "en"
    assert "Set-Cookie" in other.open("/e/dune-nights?lang=de").headers, "the answer with a cookie was not kept"


def test_a_sold_ticket_shows_at_once(owner: Client, visitor: Visitor) -> None:
    event = create_published_event(
        owner, name="Dune Nights", ticketTypes=[{"name": "A", "priceMinor": 1, "quantity": 2}]
    )
    assert "Sold out" not in visitor.open("/e/dune-nights").text
    body = {"ticketTypeId": event["ticketTypes"][0]["id"], "quantity": 2, "kind": "sponsor"}
    blocks = f"/api/events/{event['id']}/allocations"
    assert owner.post(blocks, body).status_code == 201
    assert "Sold out" in visitor.open("/e/dune-nights").text


def test_a_slug_is_looked_up_by_its_index(owner: Client) -> None:
    create_published_event(owner, name="Dune Nights")
    with db.engine.connect() as connection:
        connection.execute(text("SET enable_seqscan = off"))
        plan = "\n".join(connection.scalars(text("EXPLAIN SELECT id FROM event WHERE slug = 'dune-nights'")))
        connection.execute(text("RESET enable_seqscan"))
    assert "uq_event_slug" in plan
