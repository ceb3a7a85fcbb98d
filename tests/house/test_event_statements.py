"""The statements of the hot paths stay on the machine of their event, except those that are listed here with a reason."""

from collections.abc import Callable

import pytest

from tests.counting import record_statements
from tests.factories.accounts import list_mails_to
from tests.factories.allocations import claim_slot, create_block, token_in
from tests.factories.campaigns import CampaignEvent
from tests.factories.gate import Gate
from tests.factories.inventory import Stock
from tests.house.schema import list_event_tables
from tests.house.statements import find_tables_without_event
from tests.http import Client, data

Request = Callable[[], object]
Prepare = Callable[[Client], Request]


def claim_by_code(client: Client) -> Request:
    (code,) = create_block(client).codes(1)
    return lambda: data(claim_slot(client, code))


def claim_by_mailed_link(client: Client) -> Request:
    block = create_block(client)
    block.invite("frieda@example.com")
    token = token_in({"url": list_mails_to("frieda@example.com")[0]["text"].split("/claim/")[1].split()[0]})
    return lambda: data(claim_slot(client, token))


def claim_by_open_link(client: Client) -> Request:
    token = create_block(client).open_link(maxPerClaim=2)
    return lambda: data(claim_slot(client, token, quantity=2))


def admit(client: Client) -> Request:
    block = create_block(client)
    (slot_id,) = block.claimed(1)
    return lambda: data(block.admit(slot_id, nonce="once"))


def admit_a_party(client: Client) -> Request:
    block = create_block(client)
    party = data(claim_slot(client, block.open_link(maxPerClaim=2), quantity=2))
    return lambda: data(block.admit(party["slotId"], count=2))


def scan_slot(client: Client) -> Request:
    gate = Gate(client)
    code = gate.claim()["code"]
    return lambda: data(gate.scan(code))


def scan_ticket(client: Client) -> Request:
    gate = Gate(client)
    secret = gate.sell().secret
    return lambda: data(gate.scan(secret))


def list_will_call(client: Client) -> Request:
    block = create_block(client)
    block.claimed(2)
    return lambda: data(block.owner.get(f"{block.events}/will-call?q=fri&withTotal=true"))


def adjust_stock(client: Client) -> Request:
    stock = Stock(client)
    item = stock.item()
    return lambda: data(stock.adjust(item, -1))


def adjust_stock_of_yesterday(client: Client) -> Request:
    stock = Stock(client)
    item = stock.item()
    data(stock.adjust(item, counted=8))
    return lambda: data(stock.adjust(item, 1, occurredAt="2026-01-01T08:00:00Z"))


def send_campaign(client: Client) -> Request:
    campaign_event = CampaignEvent(client)
    campaign_event.sold("frieda@example.com", "jonas@example.com")
    return lambda: campaign_event.finished(campaign_event.send())


def discover(client: Client) -> Request:
    create_block(client)
    return lambda: data(client.get("/api/events/public/discover?q=weekend"))


def read_event(client: Client) -> Request:
    event_id = create_block(client).event["id"]
    return lambda: data(client.get(f"/api/events/public/{event_id}"))


def count_tickets(client: Client) -> Request:
    event_id = create_block(client).event["id"]
    return lambda: data(client.get(f"/api/events/public/{event_id}/ticket-inventory"))


BY_CODE = "A code or link names a slot or a block. On Citus a small table on the first machine gives its event."
BY_JOB = "The job knows the id only. On Citus its payload has the event as well."
LIST = "A list over all events."
PATHS: dict[Prepare, dict[str, str]] = {
    claim_by_code: {"allocation_slot": BY_CODE, "allocation_block": BY_CODE},
    claim_by_mailed_link: {"allocation_slot": BY_CODE, "allocation_block": BY_CODE},
    claim_by_open_link: {"allocation_block": BY_CODE},
    admit: {},
    admit_a_party: {},
    scan_slot: {},
    scan_ticket: {},
    list_will_call: {},
    adjust_stock: {},
    adjust_stock_of_yesterday: {},
    send_campaign: {"campaign": BY_JOB, "campaign_recipient": BY_JOB, "campaign_tally": BY_JOB},
    discover: {"event": LIST},
    read_event: {},
    count_tickets: {},
}
"""The hot paths, and the tables that each of them finds without the event."""


@pytest.mark.parametrize("prepare", PATHS, ids=lambda prepare: prepare.__name__)
def test_hot_paths_find_rows_by_their_event(client: Client, prepare: Prepare) -> None:
    request = prepare(client)
    with record_statements() as statements:
        request()
    assert statements
    tables = list_event_tables()
    without_event = {text: find_tables_without_event(text, tables) for text in statements}
    listed = set(PATHS[prepare])
    assert set().union(*without_event.values()) == listed, "\n\n".join(
        f"{sorted(found - listed)}: {text}" for text, found in without_event.items() if found - listed
    )


SAME_EVENT = "b.id = s.block_id AND b.event_id = s.event_id"


@pytest.mark.parametrize(
    ("statement", "tables"),
    [
        (f"SELECT * FROM allocation_slot s JOIN allocation_block b ON {SAME_EVENT} WHERE s.event_id = 1", set()),
        (f"SELECT s.event_id FROM allocation_slot s JOIN allocation_block b ON {SAME_EVENT}", {"allocation_slot"}),
        ("SELECT 1 FROM ticket t JOIN invoice i USING (id) WHERE t.event_id = 1", {"invoice"}),
        ("SELECT (SELECT max(id) FROM ticket t WHERE t.event_id = e.id) FROM event e WHERE e.id = 1", set()),
        (
            "UPDATE allocation_block b SET event_id = 1 FROM m WHERE b.id = m.id RETURNING b.event_id",
            {"allocation_block"},
        ),
        ("WITH a AS (SELECT id FROM ticket WHERE id = 1) SELECT id FROM event WHERE id = 'event_id'", {"ticket"}),
        ("SELECT id FROM ticket WHERE event_id = 1 UNION ALL SELECT id FROM invoice", {"invoice"}),
    ],
)
def test_the_reader_sees_what_is_missing(statement: str, tables: set[str]) -> None:
    assert find_tables_without_event(statement, list_event_tables()) == tables
