"""What callers do not get who may read guests or events, but neither change guests nor read money."""

from base64 import urlsafe_b64decode
from typing import Any

import pytest

from tests.factories.accounts import create_account, create_signed_in_client
from tests.factories.allocations import Block, claim_slot, create_block
from tests.factories.applications import (
    LIST,
    create_application,
    decide_application,
    find_mailed_token,
    upload_documents,
)
from tests.factories.events import update_event
from tests.factories.payouts import execute_sql
from tests.factories.tickets import add_tickets
from tests.http import Client, data, read_error
from tests.teams.test_api_keys import make_key
from tests.teams.test_devices import add_device, pair
from tests.teams.test_members import accept, invite

AMOUNTS = ("unitPriceMinor", "subtotalMinor", "discountMinor", "vatMinor", "totalMinor")
BUYER = {
    "buyerName": "Kalahari Coffee",
    "buyerAddress": "12 Independence Avenue",
    "buyerVatNumber": "4567890-01-5",
    "buyerReference": "PO-2026-118",
}


def add_member(owner: Client, client: Client, role: str, **fields: Any) -> Client:
    account = create_account()
    invite(owner, account.email, role, **fields)
    return accept(client, account)


def create_admin(client: Client, tier: str) -> Client:
    return create_signed_in_client(client, create_account("admin", admin_tier=tier))


def create_caller(client: Client, block: Block, kind: str) -> Client:
    """A caller of this kind who has a permission for the block's event."""
    if kind in ("analyst", "support", "admin"):
        return create_admin(client, kind)
    if ":" in kind or kind == "guests":
        return client.as_(make_key(block.owner, *kind.split())["key"])
    if kind == "gate device":
        return pair(client, add_device(block.owner, block.event["id"])["pairingCode"])
    if kind == "manager of this event":
        return add_member(block.owner, client, "manager", eventIds=[block.event["id"]])
    if kind == "viewer here, owner elsewhere":
        account = create_account("organiser")
        invite(block.owner, account.email, "viewer")
        return accept(client, account)
    return add_member(block.owner, client, kind)


def create_linked_block(client: Client) -> Block:
    """A block with both links, a claim code, a claimed slot, a pack and an invoice with a buyer."""
    block = create_block(client)
    block.open_link()
    block.allocator()
    claim_slot(client, block.codes(2)[0])
    data(block.post("packs", count=1), 202)
    data(block.owner.patch(f"{block.path}/invoice/buyer", BUYER))
    assert block.owner.get(f"{block.path}/invoice.pdf").status_code == 200
    return block


def read_secrets(caller: Client, block: Block) -> set[str | None]:
    """The URLs and the codes of slots that have one for the owner."""
    found = data(caller.get(block.path, query_string={"limit": 3}))
    (row,) = data(caller.get(block.events))["allocations"]
    links = [link for shown in (found, row) for link in (shown["openLink"], shown["allocatorLink"])]
    assert {link["status"] for link in links} == {"active"}
    return {link["url"] for link in links} | {slot["code"] for slot in found["slots"]}


def read_amounts(caller: Client, block: Block) -> list[Any]:
    found = data(caller.get(block.path))
    (row,) = data(caller.get(block.events))["allocations"]
    return [shown[name] for shown in (found, row) for name in (*AMOUNTS, "invoice", *BUYER)]


@pytest.mark.parametrize(
    "kind", ["viewer", "finance", "guests:read", "analyst", "support", "viewer here, owner elsewhere"]
)
def test_readers_of_guests_get_no_links_and_codes(client: Client, kind: str) -> None:
    block = create_linked_block(client)
    reader = create_caller(client, block, kind)
    assert read_secrets(reader, block) == {None}
    (pack,) = data(reader.get(f"{block.path}/packs"))["packs"]
    refusal = (404, "NOT_FOUND") if kind == "viewer here, owner elsewhere" else (403, "ROLE_NOT_ALLOWED")
    for path in ("codes", f"packs/{pack['id']}/tickets.pdf"):
        assert read_error(reader.get(f"{block.path}/{path}")) == refusal


@pytest.mark.parametrize("kind", ["manager", "guests", "admin", "manager of this event"])
def test_those_who_change_guests_get_what_the_owner_gets(client: Client, kind: str) -> None:
    block = create_linked_block(client)
    caller = create_caller(client, block, kind)
    secrets = read_secrets(caller, block)
    assert secrets == read_secrets(block.owner, block) and len(secrets - {None}) == 5
    codes = data(caller.get(f"{block.path}/codes"))
    assert codes == data(block.owner.get(f"{block.path}/codes")) and len(codes["codes"]) == 2


@pytest.mark.parametrize("kind", ["viewer", "guests:read", "guests", "viewer here, owner elsewhere"])
def test_money_of_blocks_is_hidden(client: Client, kind: str) -> None:
    block = create_linked_block(client)
    assert set(read_amounts(create_caller(client, block, kind), block)) == {None}


@pytest.mark.parametrize("kind", ["manager", "finance", "analyst", "manager of this event", "guests:read money:read"])
def test_money_of_blocks_is_shown_to_those_who_may_read_it(client: Client, kind: str) -> None:
    block = create_linked_block(client)
    amounts = read_amounts(create_caller(client, block, kind), block)
    assert amounts == read_amounts(block.owner, block) and None not in amounts


@pytest.mark.parametrize(
    ("kind", "is_shown"),
    [
        ("viewer", False),
        ("door", False),
        ("gate device", False),
        ("events:read", False),
        ("viewer here, owner elsewhere", False),
        ("manager", True),
        ("finance", True),
        ("manager of this event", True),
        ("analyst", True),
        ("events:read money:read", True),
    ],
)
def test_revenue_is_shown_to_those_who_may_read_money(client: Client, kind: str, is_shown: bool) -> None:
    block = create_linked_block(client)
    path = f"/api/events/{block.event['id']}/ticket-stats"
    stats, full_stats = data(create_caller(client, block, kind).get(path)), data(block.owner.get(path))
    shown = [row.pop("revenueMinor") for row in (stats["totals"], *stats["ticketTypes"], *stats["series"])]
    revenue = [
        row.pop("revenueMinor") for row in (full_stats["totals"], *full_stats["ticketTypes"], *full_stats["series"])
    ]
    assert len(revenue) >= 3 and None not in revenue
    assert shown == (revenue if is_shown else [None] * len(revenue))
    assert stats == full_stats


@pytest.mark.parametrize(
    ("kind", "is_shown"),
    [("viewer", False), ("analyst", False), ("door", True), ("gate device", True), ("manager", True), ("admin", True)],
)
def test_codes_of_tickets_are_for_those_who_admit(client: Client, kind: str, is_shown: bool) -> None:
    block = create_block(client)
    claim_slot(client, block.codes(1)[0], name="Frieda")
    caller, path = create_caller(client, block, kind), f"{block.events}/will-call"
    (listed,) = data(block.owner.get(path))["slots"]
    assert data(caller.get(path))["slots"] == [listed if is_shown else {**listed, "code": None}]
    for q, is_found in (("frieda", True), (listed["code"], is_shown), (listed["code"][:4], is_shown)):
        page = data(caller.get(path, query_string={"q": q, "withTotal": "true"}))
        assert (len(page["slots"]), page["pagination"]["total"]) == (is_found, is_found)


@pytest.mark.parametrize(("kind", "is_shown"), [("viewer", False), ("manager", True)])
def test_a_number_of_a_ticket_that_is_its_code_is_for_those_who_admit(
    client: Client, kind: str, is_shown: bool
) -> None:
    block = create_block(client)
    add_tickets(block.event, "WALK-4711", "OTHER", name="Frieda")
    execute_sql("UPDATE ticket SET reference = secret WHERE secret = 'WALK-4711'")
    caller, path = create_caller(client, block, kind), f"/api/events/{block.event['id']}/tickets"
    shown = {"WALK-4711" if is_shown else "…711", "R-OTHER"}
    assert {ticket["reference"] for ticket in data(caller.get(path))["tickets"]} == shown
    for q, count in (("frieda", 2), ("R-OTHER", 1), ("WALK-4711", int(is_shown)), ("WALK", int(is_shown))):
        assert len(data(caller.get(path, query_string={"q": q}))["tickets"]) == count, q
        answer = caller.get("/api/organisations/me/search", query_string={"q": q})
        groups = data(answer)["groups"]
        assert sum(len(group["hits"]) for group in groups) == count, q
        assert is_shown or "WALK-4711" not in answer.text
    cursor = data(caller.get(path, query_string={"limit": 1}))["pagination"]["nextCursor"]
    readable = urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
    assert b"WALK" not in readable and b"OTHER" not in readable, "cursors are encrypted"
    execute_sql("UPDATE ticket SET status = 'refunded' WHERE secret = 'WALK-4711'")
    groups = data(caller.get("/api/organisations/me/search", query_string={"q": "WALK-4711"}))["groups"]
    assert len(groups) == int(is_shown)


@pytest.mark.parametrize("code", ["WALK 4711 ABCD", "ÖÄ-4711x", "a'b-4711", "x" * 80 + "4711", "4711", "7"])
def test_a_code_of_any_form_is_hidden(client: Client, code: str) -> None:
    block = create_block(client)
    add_tickets(block.event, code, name="Frieda")
    execute_sql("UPDATE ticket SET reference = secret, order_number = secret")
    viewer = create_caller(client, block, "viewer")
    for q in {it for it in (code, *code.split(), code[:6], code[:20]) if len(it) > 1}:
        groups = data(viewer.get("/api/organisations/me/search", query_string={"q": q}))["groups"]
        assert groups == [], q
    path = f"/api/events/{block.event['id']}/tickets"
    assert [data(viewer.get(path, query_string={"q": q}))["tickets"] for q in (code, code[:6], "%")] == [[], [], []]
    (ticket,) = data(viewer.get(path))["tickets"]
    assert len(ticket["reference"]) - 1 <= len(code) / 3 and ticket["orderNumber"] is None


@pytest.mark.parametrize(
    ("kind", "sees"),
    [
        ("manager", True),
        ("finance", True),
        ("analyst", True),
        ("viewer", False),
        ("door", False),
        ("gate device", False),
    ],
)
def test_promo_codes_are_money(client: Client, kind: str, sees: bool) -> None:
    block = create_block(client)
    update_event(block.owner, block.event, promoCodes=[{"code": "SPONSOR", "percentOff": 10}])
    caller = create_caller(client, block, kind)
    for query in ("", "?fields=promoCodes"):
        codes = data(caller.get(f"/api/events/{block.event['id']}{query}"))["promoCodes"]
        assert ([code["code"] for code in codes] == ["SPONSOR"]) if sees else codes is None


def create_invited_application(client: Client) -> tuple[str, Block]:
    """The path of an application by an invitation link, with a document and notes, and a block of the same owner."""
    block = create_block(client)
    link = data(block.owner.post(f"/api/events/{block.event['id']}/merchant-invite", {"stallType": "Food"}), 201)
    application = create_application(client, inviteSlug=link["slug"])
    notes = {"reviewerNotes": "Ask Selma first", "riskLevel": "high", "documentsRequired": ["identity"]}
    decide_application(block.owner, application, **notes)
    data(upload_documents(client, find_mailed_token("documents"), "identity"))
    return f"{LIST}/{application['id']}", block


CASES = [
    ("owner", True, True),
    ("manager", True, True),
    ("admin", True, True),
    ("support", True, False),
    ("viewer", False, False),
    ("finance", False, False),
    ("analyst", False, False),
    ("stalls:read", False, False),
    ("viewer here, owner elsewhere", False, False),
]


@pytest.mark.parametrize(("kind", "may_decide", "may_invite"), CASES)
def test_documents_and_notes_are_for_deciders_and_links_for_who_invites(
    client: Client, kind: str, may_decide: bool, may_invite: bool
) -> None:
    path, block = create_invited_application(client)
    caller = block.owner if kind == "owner" else create_caller(client, block, kind)
    row = data(caller.get(path))
    (document,) = row["documents"]
    assert ("url" in document) == may_decide and document["status"] == "uploaded"
    assert (row["reviewerNotes"], row["riskLevel"]) == (("Ask Selma first", "high") if may_decide else (None, None))
    assert (row["inviteSlug"] is not None) == may_invite
    for filter_query in ("riskLevel=high", "reviewerNotes=Selma"):
        assert len(data(caller.get(f"{LIST}?{filter_query}"))["applications"]) == may_decide
