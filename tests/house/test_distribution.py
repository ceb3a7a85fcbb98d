"""The schema is ready to be distributed by event: `docs/scaling.md` says where each table goes, and is right."""

import re
from typing import Any

import pytest

from app.core import idempotency_store  # noqa: F401  its table
from app.core.db import Base
from tests.house.sources import ROOT

KINDS = ("event", "below", "account", "node")
# What is written or read for each claim, admission, sale, movement and message.
HOT = {
    "event",
    "ticket_type",
    "ticket",
    "allocation_block",
    "allocation_slot",
    "inventory_item",
    "inventory_movement",
    "inventory_change",
    "campaign",
    "participation",
    "crew_member",
    "merchant_application",
}
# Hot as well, but only their parents have the event so far; the page says so under "What is missing".
WITHOUT_THE_EVENT = {
    "ticket_admission",
    "ticket_tally",
    "allocation_slot_event",
    "campaign_recipient",
    "campaign_tally",
}
DISTRIBUTED = ("event", "below")


def told() -> dict[str, tuple[str, str]]:
    """Kind and column of each table, as the page says."""
    page = (ROOT / "docs" / "scaling.md").read_text()
    rows = re.findall(rf"^\| `(\w+)` \| ({'|'.join(KINDS)}) \| (.*?) \|$", page, re.M)
    assert len({row[0] for row in rows}) == len(rows)
    return {table: (kind, by) for table, kind, by in rows}


def tables() -> dict[str, Any]:
    mapped = [mapper for mapper in Base.registry.mappers if mapper.class_.__module__.startswith("app.")]
    return {item.local_table.name: item.local_table for item in mapped}


def test_every_table_has_its_place() -> None:
    assert told().keys() == tables().keys()


@pytest.mark.parametrize("kind", DISTRIBUTED)
def test_what_is_distributed_has_the_key_that_the_page_names(kind: str) -> None:
    place, known = told(), tables()
    for name, (its, by) in place.items():
        if its != kind:
            continue
        column, _, parent = by.replace("`", "").partition(" → ")
        assert column in known[name].columns, name
        if kind == "event":
            assert (column, parent) == ("id" if name == "event" else "event_id", "")
        else:
            assert place[parent][0] in DISTRIBUTED, f"{name}: {parent} is not distributed"


def test_every_hot_table_has_the_event_in_it() -> None:
    assert {told()[name][0] for name in HOT} == {"event"}


def test_the_page_lists_hot_tables_without_the_event() -> None:
    assert {told()[name][0] for name in WITHOUT_THE_EVENT} == {"below"}
    missing = (ROOT / "docs" / "scaling.md").read_text().partition("### Missing steps")[2]
    assert all(f"`{name}`" in missing for name in WITHOUT_THE_EVENT)


def test_what_stays_points_to_nothing_that_is_distributed() -> None:
    place = told()
    for name, table in tables().items():
        if place[name][0] not in DISTRIBUTED:
            there = {key.column.table.name for key in table.foreign_keys}
            assert not [item for item in there if place[item][0] in DISTRIBUTED], name


def test_no_other_table_hides_an_event() -> None:
    place = told()
    hiding = [name for name, table in tables().items() if "event_id" in table.columns and place[name][0] != "event"]
    assert hiding == ["payrail_callback"], "its event is one of the rail's"
