"""The calendar file of an event, and the link to its map."""

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from flask import Flask

from app.core.formatting import format_period
from app.core.languages import use_language
from app.events.calendar_file import build_calendar_file
from app.events.visit import Visit
from tests.allocations.documents import HOSTILE, VISIT


def read_calendar(visit: Visit) -> dict[str, str]:
    """Return the properties of a calendar file as a calendar program reads them."""
    content = build_calendar_file(
        visit.build_appointment(organiser="Windhoek Lights; the team", contact="nangula@example.com")
    )
    lines = content.decode().split("\r\n")
    assert lines.pop() == "" and "\n" not in "".join(lines)
    assert all(len(line.encode()) <= 75 for line in lines)
    unfolded = "\n".join(lines).replace("\n ", "").split("\n")
    assert unfolded[0] == "BEGIN:VCALENDAR" and unfolded[-2:] == ["END:VEVENT", "END:VCALENDAR"]
    return {name: value for name, _, value in (line.partition(":") for line in unfolded)}


def unescape(text: str) -> str:
    return re.sub(r"\\(.)", lambda match: "\n" if match[1] == "n" else match[1], text)


def test_calendar_file_has_the_times_in_utc(app: Flask) -> None:
    entry = read_calendar(VISIT)
    assert (entry["DTSTART"], entry["DTEND"]) == ("20261204T160000Z", "20261204T210000Z")
    assert (entry["SUMMARY"], entry["LOCATION"]) == ("Windhoek Lights 2026", "River grounds\\, Windhoek")
    assert (entry["METHOD"], entry["VERSION"], entry["STATUS"]) == ("PUBLISH", "2.0", "CONFIRMED")
    assert "GEO" not in entry and VISIT.map_url in unescape(entry["DESCRIPTION"])


def test_a_moved_event_changes_the_entry(app: Flask) -> None:
    moved = replace(
        VISIT,
        starts_at=datetime(2026, 12, 5, 16, tzinfo=UTC),
        event_version=4,
        updated_at=datetime(2026, 11, 21, tzinfo=UTC),
    )
    before, after = read_calendar(VISIT), read_calendar(moved)
    assert before["UID"] == after["UID"] and VISIT.event_id in before["UID"]
    assert int(after["SEQUENCE"]) > int(before["SEQUENCE"])
    assert after["LAST-MODIFIED"] == after["DTSTAMP"] == "20261121T000000Z"
    assert read_calendar(replace(VISIT, visibility="cancelled"))["STATUS"] == "CANCELLED"


FROM, UNTIL = datetime(2026, 12, 4, 8, tzinfo=UTC), datetime(2026, 12, 4, 22, tzinfo=UTC)


@pytest.mark.parametrize(
    ("valid_from", "valid_until", "when", "entry_rule"),
    [
        (FROM, UNTIL, "Valid Fri 4 December 2026, 10:00 to Sat 5 December 2026, 00:00 (Windhoek)", "once."),
        (FROM, UNTIL + timedelta(days=1), "Valid Fri 4 December 2026, 10:00 to Sun 6 December", "once a day."),
        (FROM, None, "Valid from Fri 4 December 2026, 10:00 (Windhoek)", "once."),
        (None, UNTIL, "Valid until Sat 5 December 2026, 00:00 (Windhoek)", "once a day."),
        (None, None, "Fri 4 December 2026, 18:00 to 23:00 (Windhoek)", "once a day."),
    ],
)
def test_a_ticket_has_the_times_of_its_type(
    app: Flask, valid_from: datetime | None, valid_until: datetime | None, when: str, entry_rule: str
) -> None:
    visit = replace(VISIT, valid_from=valid_from, valid_until=valid_until, reentry="daily")
    assert visit.when.startswith(when) and visit.entry_rule == f"The ticket admits {entry_rule}"


def test_tickets_of_two_days_are_two_entries_of_the_calendar(app: Flask) -> None:
    days = [replace(VISIT, ticket_type_id=name, valid_from=FROM, valid_until=UNTIL) for name in ("fri", "sat")]
    assert len({read_calendar(visit)["UID"] for visit in (VISIT, *days)}) == 3
    assert read_calendar(days[0])["DTSTART"] == "20261204T080000Z"
    assert read_calendar(replace(VISIT, ticket_type_id="fri"))["UID"] == read_calendar(VISIT)["UID"]
    late = read_calendar(replace(VISIT, valid_from=UNTIL))
    assert late["DTSTART"] <= late["DTEND"], "a type that the gate admits only after the event"


@pytest.mark.parametrize("name", [*HOSTILE, "a;b,c\\d\ne", "ä" * 200, "\U0001f525" * 50, "x\r\nATTENDEE:mailto:a@b.c"])
def test_any_name_is_one_property(app: Flask, name: str) -> None:
    entry = read_calendar(replace(VISIT, event_name=name, venue=name))
    assert "ATTENDEE" not in entry
    assert unescape(entry["SUMMARY"]) == name.replace("\r\n", "\n")


def test_map_shows_coordinates_or_searches_for_the_place(app: Flask) -> None:
    assert VISIT.map_url == "https://www.openstreetmap.org/search?query=River+grounds%2C+Windhoek"
    placed = replace(VISIT, latitude=-22.5597, longitude=17.0832)
    assert placed.map_url == (
        "https://www.openstreetmap.org/?mlat=-22.559700&mlon=17.083200#map=17/-22.559700/17.083200"
    )
    assert read_calendar(placed)["GEO"] == "-22.559700;17.083200"


@pytest.mark.parametrize(
    ("ends_at", "language", "expected"),
    [
        ((2026, 12, 4, 21), "en", "Fri 4 December 2026, 18:00 to 23:00 (Windhoek)"),
        ((2026, 12, 5, 0), "en", "Fri 4 December 2026, 18:00 to Sat 5 December 2026, 02:00 (Windhoek)"),
        ((2026, 12, 4, 21), "de", "Fr 4. Dezember 2026, 18:00 bis 23:00 (Windhoek)"),
        ((2026, 12, 4, 21), "af", "Vr 4 Desember 2026, 18:00 tot 23:00 (Windhoek)"),
    ],
)
def test_period_names_the_day_of_the_end_if_it_is_another(
    app: Flask, ends_at: tuple[Any, ...], language: str, expected: str
) -> None:
    with use_language(language):
        assert format_period(VISIT.starts_at, datetime(*ends_at, tzinfo=UTC), VISIT.timezone) == expected
