"""Blocks over HTTP: quote, codes, invitations, links, claims, release, revocation, move."""

import pytest

from tests.allocations.law import assert_books_agree
from tests.counting import record_statements
from tests.factories.accounts import create_account, create_signed_in_client
from tests.factories.allocations import claim_slot, create_another_block, create_block, token_in
from tests.factories.events import WEEKEND, create_organiser_client, create_published_event
from tests.http import Client, data, list_problems, read_error

QUOTE = (
    "ticketTypeId",
    "quantity",
    "currency",
    "unitPriceMinor",
    "lines",
    "subtotalMinor",
    "discountMinor",
    "vatMinor",
    "totalMinor",
    "available",
    "fits",
)


def test_quote_has_the_cost_and_writes_nothing(client: Client) -> None:
    owner = create_organiser_client(client)
    event = create_published_event(
        owner,
        bulkDiscounts=[{"minQuantity": 10, "percentOff": 5}],
        promoCodes=[{"code": "FAN", "amountOffMinor": 1000}],
    )
    sent = {"ticketTypeId": event["ticketTypes"][0]["id"], "quantity": 10, "promoCode": "fan"}
    found = data(owner.post(f"/api/events/{event['id']}/allocations/quote", sent))
    assert set(QUOTE) <= set(found)
    unit = 85000 - 4250 - 1000
    assert (found["subtotalMinor"], found["totalMinor"]) == (850000, unit * 10)
    assert found["discountMinor"] == 850000 - unit * 10
    assert found["vatMinor"] == round(unit * 10 * 15 / 115)
    assert sum(line["amountMinor"] for line in found["lines"]) == found["totalMinor"]
    assert (found["available"], found["fits"]) == (100, True)
    assert not data(owner.post(f"/api/events/{event['id']}/allocations/quote", {**sent, "quantity": 101}))["fits"]
    assert data(owner.get(f"/api/events/{event['id']}/allocations"))["allocations"] == []
    wrong = owner.post(f"/api/events/{event['id']}/allocations/quote", {**sent, "promoCode": "NOPE"})
    assert list_problems(wrong) == {"promoCode": "unknown_value"}


def test_block_takes_its_places_from_the_public(client: Client) -> None:
    made = create_block(client, quantity=30, holder={"name": "Jan", "organisation": "Namib Brews"})
    found = made.now()
    assert (found["quantity"], found["available"], found["status"]) == (30, 30, "open")
    assert found["holder"]["organisation"] == "Namib Brews"
    assert [slot["status"] for slot in found["slots"]] == ["available"] * 30
    assert found["totalMinor"] == 30 * 85000 and found["vatMinor"] == round(30 * 85000 * 15 / 115)
    public = data(client.get(f"/api/events/public/{made.event['id']}/ticket-inventory"))["ticketTypes"][0]
    assert (public["available"], public["allocated"]) == (70, 30)
    again = made.owner.post(made.events, {"ticketTypeId": made.ticket_type_id, "quantity": 71})
    assert read_error(again) == (409, "INSUFFICIENT_TICKETS") and again.get_json()["data"]["available"] == 70
    assert [allocation["id"] for allocation in data(made.owner.get(made.events))["allocations"]] == [made.id]
    assert_books_agree()


def test_all_problems_of_a_block_are_reported_together(client: Client) -> None:
    made = create_block(client)
    assert list_problems(made.owner.post(made.events, {"kind": "king", "holder": {"email": "x"}})) == {
        "ticketTypeId": "required",
        "quantity": "required",
        "kind": "unknown_value",
        "holder.email": "invalid_email",
    }
    past = {"ticketTypeId": made.ticket_type_id, "quantity": 1, "releaseAt": "2020-01-01"}
    assert list_problems(made.owner.post(made.events, past)) == {"releaseAt": "in_the_past"}


def test_claim_code_opens_one_place_once(client: Client) -> None:
    made = create_block(client, quantity=3)
    codes = made.codes(2)
    assert read_error(made.post("codes", count=2)) == (409, "INSUFFICIENT_SLOTS")
    offer = data(client.get(f"/api/allocations/claim/{codes[0]}"))
    assert offer["eventName"] == made.event["name"] and offer["status"] == "invited"
    typed = f"{codes[0][:5].lower()}-{codes[0][5:]}"
    mine = data(claim_slot(client, typed, name="Tuli"))
    assert mine["status"] == "claimed" and mine["code"] not in codes
    assert read_error(claim_slot(client, codes[0])) == (410, "LINK_USED")
    assert len(made.codes()) == 1 and made.codes() == []
    rows = data(made.owner.get(f"{made.path}/codes"))["codes"]
    assert sorted(row["status"] for row in rows) == ["claimed", "invited", "invited"]
    sheet = made.owner.get(f"{made.path}/codes", headers={"Accept": "text/csv"})
    assert sheet.mimetype == "text/csv" and codes[1] in sheet.get_data(as_text=True)
    assert_books_agree()


def test_claim_codes_are_available_as_csv(client: Client) -> None:
    made = create_block(client, quantity=2)
    sheet = made.owner.post(f"{made.path}/codes", {}, headers={"Accept": "text/csv"})
    assert sheet.status_code == 201
    assert [len(line.split(",")[0]) for line in sheet.get_data(as_text=True).splitlines()[1:]] == [10, 10]


def test_invitations_are_all_or_nothing(client: Client) -> None:
    made = create_block(client, quantity=3)
    preview = made.post("invite", recipients=[{"name": "A", "email": "a@example.com"}], dryRun=True)
    assert [item["email"] for item in data(preview, 200)["invited"]] == ["a@example.com"]
    assert made.now()["available"] == 3
    (first,) = made.invite("A@example.com")
    body = {"recipients": [{"name": name, "email": f"{name}@example.com"} for name in ("a", "b", "b")]}
    found = data(made.post("invite", **body), 201)
    assert [item["email"] for item in found["invited"]] == ["b@example.com"]
    assert {(duplicate["email"], duplicate["reason"]) for duplicate in found["duplicates"]} == {
        ("a@example.com", "ALREADY_INVITED"),
        ("b@example.com", "LISTED_TWICE"),
    }
    many = {"recipients": [{"name": item, "email": f"{item}@example.com"} for item in "cd"]}
    assert read_error(made.post("invite", **many)) == (409, "INSUFFICIENT_SLOTS")
    data(made.post("invite", name="A", email="a@example.com", allowDuplicates=True), 201)
    assert made.now()["invited"] == 3
    mine = data(claim_slot(client, token_in(first), name="Anna", email="anna@example.com"))
    assert mine["slotId"] == first["slotId"] and len(mine["code"]) == 10
    assert list_problems(made.post("invite")) == {"recipients": "required"}
    assert_books_agree()


def test_inviting_needs_a_verified_address(client: Client) -> None:
    made = create_block(client)
    unverified = create_signed_in_client(client, create_account("organiser", verified=False))
    body = {"recipients": [{"name": "A", "email": "a@example.com"}]}
    assert read_error(unverified.post(f"{made.path}/invite", body)) == (403, "EMAIL_NOT_VERIFIED")


def test_open_link_gives_one_place_to_each_address(client: Client) -> None:
    made = create_block(client, quantity=5)
    token = made.open_link(maxClaims=2)
    assert made.open_link() == token
    assert data(client.get(f"/api/allocations/claim/{token}"))["remaining"] == 2
    data(claim_slot(client, token, email="a@example.com"))
    assert read_error(claim_slot(client, token, email="A@example.com")) == (409, "ALREADY_CLAIMED")
    data(claim_slot(client, token))
    assert read_error(claim_slot(client, token)) == (409, "NO_SLOTS_LEFT")
    assert read_error(client.get(f"/api/allocations/claim/{token}")) == (409, "NO_SLOTS_LEFT")
    fresh = made.open_link(rotate=True)
    assert read_error(claim_slot(client, token)) == (410, "LINK_EXPIRED")
    data(claim_slot(client, fresh))
    ended = data(made.post("open-link", revoke=True))
    assert (ended["url"], ended["status"]) == (None, "revoked")
    assert read_error(claim_slot(client, fresh)) == (410, "LINK_EXPIRED")
    assert_books_agree()


def test_holder_sends_renames_and_takes_back_a_ticket(client: Client) -> None:
    made = create_block(client, quantity=3)
    path = f"/api/allocations/allocator/{made.allocator()}"
    mine = data(client.post(path, {"name": "Elago", "email": "elago@example.com"}))
    assert read_error(client.post(path, {"name": "Elago", "email": "elago@example.com"})) == (409, "ALREADY_CLAIMED")
    renamed = data(client.post(path, {"slotId": mine["slotId"], "name": "Maria", "email": "maria@example.com"}))
    assert renamed["name"] == "Maria" and renamed["code"] != mine["code"]
    assert read_error(client.get(f"/api/allocations/claim/{mine['code']}")) == (404, "NOT_FOUND")
    shown = data(client.get(path))
    assert [slot["name"] for slot in shown["slots"]] == ["Maria"] and shown["available"] == 2
    for _ in range(2):
        back = data(client.post(path, {"slotId": mine["slotId"], "action": "take_back"}))
        assert back["status"] == "revoked"
    assert data(client.get(path))["available"] == 3
    assert read_error(client.post(path, {"name": "A", "email": "a@example.com", "quantity": 4})) == (
        409,
        "NO_SLOTS_LEFT",
    )
    assert list_problems(client.post(path, {"name": "A"})) == {"email": "required"}
    data(made.post("allocator-link", rotate=True))
    assert read_error(client.get(path)) == (410, "LINK_EXPIRED")
    assert_books_agree()


def test_reminder_is_sent_once_a_day(client: Client) -> None:
    made = create_block(client)
    first, second = made.invite("a@example.com", "b@example.com")
    made.codes(1)
    data(claim_slot(client, token_in(second)))
    found = data(made.post("remind"))
    assert [item["slotId"] for item in found["reminded"]] == [first["slotId"]]
    assert {item["reason"] for item in found["skipped"]} == {"ALREADY_CLAIMED", "NO_ADDRESS"}
    again = data(made.post("remind", slotIds=[first["slotId"], "0" * 24]))
    assert again["reminded"] == []
    assert [item["reason"] for item in again["skipped"]] == ["REMINDED_RECENTLY", "NOT_FOUND"]


def test_unclaimed_places_are_released_to_the_public(client: Client) -> None:
    made = create_block(client, quantity=10)
    (code, *_) = made.codes(4)
    made.claimed(2)
    preview = data(made.post("release-unused", quantity=5, dryRun=True))
    assert (preview["released"], preview["publicAvailableBefore"], preview["publicAvailableAfter"]) == (5, 90, 95)
    found = data(made.post("release-unused", quantity=5))
    assert (found["released"], found["publicAvailableBefore"], found["publicAvailableAfter"]) == (5, 90, 95)
    assert data(made.post("release-unused"))["released"] == 3
    assert data(made.post("release-unused"))["released"] == 0
    assert read_error(claim_slot(client, code)) == (410, "LINK_EXPIRED")
    assert (made.now()["status"], made.now()["held"]) == ("released", 2)
    assert_books_agree()


def test_revoked_ticket_ends_and_its_place_returns(client: Client) -> None:
    made = create_block(client, quantity=2)
    slot, other = made.claimed(2)
    old = next(item["code"] for item in made.now()["slots"] if item["id"] == slot)
    assert made.now()["status"] == "exhausted"
    for _ in range(2):
        assert data(made.revoke(slot))["status"] == "revoked"
    assert read_error(made.admit(slot)) == (409, "SLOT_REVOKED")
    assert read_error(claim_slot(client, old)) == (410, "LINK_EXPIRED")
    assert (made.now()["available"], made.now()["status"]) == (1, "open")
    data(made.revoke(other, returnTo="public"))
    assert (made.now()["held"], made.now()["quantity"]) == (1, 2)
    fresh = made.claimed(1)[0]
    data(made.admit(fresh))
    assert read_error(made.revoke(fresh)) == (409, "ALREADY_ADMITTED")
    assert_books_agree()


def test_free_places_move_between_blocks_of_a_ticket_type(client: Client) -> None:
    made = create_block(client, quantity=5)
    target = create_another_block(made, quantity=1)
    code = made.codes(1)[0]
    moved = data(made.post("move", toBlockId=target.id, quantity=4))
    assert (moved["from"]["available"], moved["from"]["quantity"], moved["to"]["available"]) == (0, 1, 5)
    assert read_error(made.post("move", toBlockId=target.id, quantity=1)) == (409, "INSUFFICIENT_SLOTS")
    assert list_problems(made.post("move", toBlockId=made.id, quantity=1)) == {"toBlockId": "contradiction"}
    assert read_error(made.post("move", toBlockId="0" * 24, quantity=1)) == (404, "NOT_FOUND")
    data(claim_slot(client, code))
    assert_books_agree()


def test_blocks_are_sorted_and_guests_found_by_a_part_of_their_name(client: Client) -> None:
    first = create_block(client, name="Silver", quantity=5)
    second = create_another_block(first, name="Gold", quantity=7)
    first.invite("anna@example.com", "100%@example.com")
    for sort, block in (("name", second), ("-name", first), ("available", first), ("-quantity", second)):
        rows = data(first.owner.get(first.events, query_string={"sort": sort}))["allocations"]
        assert rows[0]["id"] == block.id, sort
    for q, emails in (("NNA", ["anna@example.com"]), ("0%", ["100%@example.com"]), ("%anna", [])):
        assert [slot["email"] for slot in first.now(q=q)["slots"]] == emails, q


def test_other_organisers_see_and_change_nothing(client: Client) -> None:
    made = create_block(client)
    slot = made.claimed(1)[0]
    other = create_organiser_client(client)
    for method, path in (
        ("GET", made.events),
        ("GET", made.path),
        ("POST", f"{made.path}/codes"),
        ("POST", f"{made.path}/open-link"),
        ("POST", f"{made.path}/release-unused"),
        ("GET", f"{made.events}/will-call"),
        ("POST", f"{made.events}/will-call/{slot}/admit"),
        ("POST", f"{made.path}/slots/{slot}/revoke"),
        ("GET", f"{made.path}/codes"),
        ("POST", f"{made.path}/remind"),
    ):
        assert read_error(other.open(method, path)) == (404, "NOT_FOUND"), path
    own = create_published_event(other, ticketTypes=[WEEKEND])
    assert read_error(other.post(f"/api/events/{own['id']}/allocations/will-call/{slot}/admit")) == (404, "NOT_FOUND")
    customer = create_signed_in_client(client, create_account("customer"))
    assert read_error(customer.get(made.events)) == (403, "ROLE_NOT_ALLOWED")


def test_guessing_codes_is_limited_to_twenty(client: Client) -> None:
    made = create_block(client)
    (code,) = made.codes(1)
    token = made.invite("a@example.com")[0]
    app = client.flask.application.extensions["settings"]
    allowed = int(20 * app.RATE_LIMIT_SCALE)
    for _ in range(allowed):
        assert read_error(client.get("/api/allocations/claim/ABCDEFGHJK")) == (404, "NOT_FOUND")
    refused = client.get(f"/api/allocations/claim/{code}")
    assert read_error(refused) == (429, "RATE_LIMITED") and int(refused.headers["Retry-After"]) <= 60
    assert data(client.get(f"/api/allocations/claim/{token_in(token)}"))["status"] == "invited"


def test_changes_are_counted_in_the_figures_of_the_day(client: Client) -> None:
    made = create_block(client, quantity=10)
    slots = made.claimed(4)
    made.invite("a@example.com")
    data(made.admit(slots[0]))
    data(made.revoke(slots[1]))
    data(made.post("release-unused", quantity=2))
    stats = data(made.owner.get(f"/api/events/{made.event['id']}/ticket-stats"))
    (kind,), (day,) = stats["ticketTypes"], stats["series"]
    standing = {name: kind[name] for name in ("allocated", "invited", "claimed", "admitted", "revoked", "released")}
    assert standing == {"allocated": 8, "invited": 1, "claimed": 2, "admitted": 1, "revoked": 1, "released": 2}
    flows = {name: day[name] for name in standing}
    assert flows == {"allocated": 10, "invited": 5, "claimed": 4, "admitted": 1, "revoked": 1, "released": 2}


def test_idempotency_key_makes_one_block(client: Client) -> None:
    made = create_block(client)
    sent = {"ticketTypeId": made.ticket_type_id, "quantity": 5}
    keyed = made.owner.with_(Idempotency_Key="one-block-please")
    first, second = keyed.post(made.events, sent), keyed.post(made.events, sent)
    assert data(first, 201) == data(second, 201) and second.headers["Idempotent-Replayed"] == "true"
    assert len(data(made.owner.get(made.events))["allocations"]) == 2


@pytest.mark.parametrize(
    ("what", "most"),
    [
        ("create", 10),
        ("codes", 5),
        ("invite", 7),
        ("claim", 5),
        ("admit", 2),
        ("read", 4),
        ("will-call", 2),
        ("revoke", 6),
        ("release-unused", 6),
        ("list", 4),
    ],
)
def test_requests_run_few_statements(client: Client, what: str, most: int) -> None:
    """Statements, with the one that knows the caller and the one that records the act."""
    made = create_block(client)
    slot = made.claimed(1)[0]
    token = made.open_link()
    calls = {
        "create": lambda: made.owner.post(made.events, {"ticketTypeId": made.ticket_type_id, "quantity": 1}),
        "codes": lambda: made.post("codes", count=2),
        "invite": lambda: made.post("invite", name="A", email="a@example.com"),
        "claim": lambda: claim_slot(client, token, delivery="e_ticket"),
        "admit": lambda: made.admit(slot),
        "read": lambda: made.owner.get(made.path),
        "list": lambda: made.owner.get(made.events),
        "will-call": lambda: made.owner.get(f"{made.events}/will-call?q=fri"),
        "revoke": lambda: made.revoke(slot),
        "release-unused": lambda: made.post("release-unused"),
    }
    with record_statements() as seen:
        assert calls[what]().status_code in (200, 201)
    assert len(seen) <= most, "\n".join(seen)
