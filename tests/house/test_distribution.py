"""The schema is ready to be distributed by event: `docs/scaling.md` says where each table goes, and is right.

The kind of a table follows from the models. A table whose rows belong to an event has the event in its keys, so that every
key and every unique value of it is on one machine.
"""

import re

import pytest
from sqlalchemy import Index, Table, UniqueConstraint

from tests.house.schema import EVENT, list_event_tables, list_tables
from tests.house.sources import ROOT

KINDS = ("event", "reference", "account", "node")
UNIQUE_OVER_ALL_EVENTS = {
    "uq_allocation_slot_code": "A guest enters a code without the event. On Citus: a table code → event.",
    "uq_allocation_slot_claim_code": "The same, for a code that was used.",
    "uq_invoice_organiser_id_kind_year_sequence": "An organiser's invoices have one series over all events."
    " `invoice_counter` on the first machine gives the numbers.",
}
"""Unique constraints and indexes of event tables without the event, and what replaces them on Citus."""
APPLICATIONS = {
    "merchant_application": "An application may have no event, and a key contains no null. People find it by its reference"
    " or a mailed link, and lists of organisers and merchants span events. So it stays on the first machine.",
}
"""Tables that point to an event and are distributed with nothing."""


def read_page() -> dict[str, str]:
    """The kind of each table, as the page says."""
    page = (ROOT / "docs" / "scaling.md").read_text()
    rows = re.findall(rf"^\| `(\w+)` \| ({'|'.join(KINDS)}) \| .*? \|$", page, re.M)
    kind_by_table = dict(rows)
    assert len(kind_by_table) == len(rows)
    return kind_by_table


def list_references(name: str) -> set[str]:
    """The tables that a table's foreign keys point to."""
    return {key.column.table.name for key in list_tables()[name].foreign_keys}


def derive_kind(name: str) -> str:
    """The kind of a table by its keys; "" for a table that no key connects with an account or an event."""
    event_tables = list_event_tables()
    if name in event_tables:
        return "event"
    if any(name in list_references(table) for table in event_tables):
        return "reference"
    return "account" if reaches_account(name) else ""


def reaches_account(name: str) -> bool:
    columns = set(list_tables()[name].columns.keys())
    parents = list_references(name) - {name}
    return bool(columns & {"account_id", "owner_id", "organiser_id"}) or any(
        parent == "account" or reaches_account(parent) for parent in parents
    )


def name_parent_columns() -> set[str]:
    """The columns by which rows of event tables belong to other rows of their event: `event_id`, `block_id`, …"""
    return {
        key.parent.name
        for name in list_event_tables()
        for key in list_tables()[name].foreign_keys
        if key.column.table.name in list_event_tables()
    }


def list_unique_rules(table: Table) -> dict[str, set[str]]:
    """The columns of each unique constraint and index by its name."""
    rules = [rule for rule in table.constraints if isinstance(rule, UniqueConstraint)]
    indexes: list[Index] = [index for index in table.indexes if index.unique]
    return {str(rule.name): set(rule.columns.keys()) for rule in (*rules, *indexes)}


def test_the_page_lists_every_table() -> None:
    assert read_page().keys() == list_tables().keys()


@pytest.mark.parametrize("name", sorted(list_tables()))
def test_the_page_gives_each_table_its_kind(name: str) -> None:
    kind = derive_kind(name)
    assert read_page()[name] in ({kind} if kind else {"account", "node"})


@pytest.mark.parametrize("name", sorted(list_event_tables() - {EVENT}))
def test_keys_of_event_tables_contain_the_event(name: str) -> None:
    table = list_tables()[name]
    assert "event_id" in table.primary_key.columns
    for key in table.foreign_key_constraints:
        target = key.referred_table.name
        if target in list_event_tables():
            pairs = {(element.parent.name, element.column.name) for element in key.elements}
            assert ("event_id", "id" if target == EVENT else "event_id") in pairs, key.name
        else:
            assert read_page()[target] == "reference", f"{key.name} leaves the machine of the event"


def test_unique_rules_of_event_tables_contain_the_event() -> None:
    without_event = {
        name
        for table in sorted(list_event_tables() - {EVENT})
        for name, columns in list_unique_rules(list_tables()[table]).items()
        if "event_id" not in columns
    }
    assert without_event == UNIQUE_OVER_ALL_EVENTS.keys()
    page = (ROOT / "docs" / "scaling.md").read_text()
    assert all(f"`{name}`" in page for name in without_event)


@pytest.mark.parametrize("name", sorted(list_tables().keys() - list_event_tables()))
def test_no_other_table_belongs_to_an_event(name: str) -> None:
    """A new table with a foreign key or a column like `block_id` must be an `EventRow`."""
    if name in APPLICATIONS:
        assert list_references(name) & list_event_tables() == {EVENT}
        return
    columns = set(list_tables()[name].columns.keys())
    if name == "audit_entry":
        columns.remove("event_id")  # Many entries have no event, and they stay when their event is deleted.
    if name == "organisation_file":
        columns.remove("event_id")  # Files of all events have none.
    if name == "ledger_transaction":
        columns.remove("event_id")  # Only stall fees have an event; the books stay with their owner.
    if name == "payrail_callback":
        columns.remove("event_id")  # The number of an event at the payment rail.
    assert not list_references(name) & list_event_tables()
    assert not columns & name_parent_columns()
