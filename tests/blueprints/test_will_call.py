"""The will-call list and admission over HTTP."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.allocations.law import assert_books_agree
from tests.factories.allocations import claim_slot, create_block
from tests.http import Client, data, list_problems, read_error


def test_party_is_claimed_together_and_admitted_in_parts(client: Client) -> None:
    made = create_block(client, quantity=6)
    token = made.open_link(maxPerClaim=4)
    assert list_problems(claim_slot(client, token, quantity=5)) == {"quantity": "too_large"}
    party = data(claim_slot(client, token, quantity=4))
    assert (party["quantity"], len({slot["code"] for slot in party["slots"]})) == (4, 4)
    first = data(made.admit(party["slotId"], count=3, nonce="scan-0001"))
    assert (first["count"], first["partySize"]) == (3, 4)
    assert data(made.admit(party["slotId"], count=3, nonce="scan-0001")) == first
    few = made.admit(party["slotId"], count=2, nonce="scan-0002")
    assert read_error(few) == (409, "PARTY_TOO_SMALL") and few.get_json()["data"]["remaining"] == 1
    assert data(made.admit(party["slotId"], count=1, nonce="scan-0003"))["count"] == 1
    assert read_error(made.admit(party["slotId"], count=1, nonce="scan-0004")) == (409, "ALREADY_ADMITTED")
    assert made.now()["admitted"] == 4
    assert_books_agree()


def test_repeated_scan_gets_the_same_response(client: Client) -> None:
    made = create_block(client)
    (slot,) = made.claimed(1, "Zoë")
    (code,) = made.codes(1)
    unclaimed = data(made.owner.get(f"{made.path}/codes"))["codes"]
    waiting = next(item["slotId"] for item in unclaimed if item["code"] == code)
    assert read_error(made.admit(waiting)) == (409, "NOT_CLAIMED")
    first = data(made.admit(slot, nonce="scan-1", gate="North"))
    assert [data(made.admit(slot, nonce="scan-1", gate="South")) for _ in range(3)] == [first] * 3
    refused = made.admit(slot, nonce="scan-2")
    assert read_error(refused) == (409, "ALREADY_ADMITTED")
    said = refused.get_json()["data"]
    assert (said["admittedAt"], said["gate"]) == (first["admittedAt"], "North") and said["admittedBy"]
    assert read_error(made.admit(slot)) == (409, "ALREADY_ADMITTED")
    assert list_problems(made.admit(slot, occurredAt="2020-01-01T10:00:00Z")) == {"occurredAt": "out_of_range"}


def test_offline_scanner_sends_the_time_of_admission(client: Client) -> None:
    made = create_block(client)
    (slot,) = made.claimed(1)
    then = (datetime.now(UTC) - timedelta(hours=2)).replace(microsecond=0)
    assert data(made.admit(slot, occurredAt=then.isoformat()))["admittedAt"] == then.strftime("%Y-%m-%dT%H:%M:%S.000Z")


@pytest.mark.parametrize(
    ("q", "found"),
    [
        ("zo", ["Zoë Großmann"]),
        ("GROSS", ["Zoë Großmann"]),
        ("zoe gr", ["Zoë Großmann"]),
        ("zoe qqqqq", []),
        ("o'b", ["Tuli O’Brien"]),
        ("zg@", ["Zoë Großmann"]),
        ("omaere", ["Zoë Großmann"]),
        ("@omaere.ex", ["Zoë Großmann"]),
        ("hamu", ["Tuli O’Brien"]),
        ("e", []),
        ("'", []),
        ("\\", []),
        ("& | !", []),
    ],
)
def test_will_call_search_matches_prefixes(client: Client, q: str, found: list[str]) -> None:
    made = create_block(client)
    first, second = made.codes(2)
    code = data(claim_slot(client, first, name="Zoë Großmann", email="zg@omaere.example"))["code"]
    data(claim_slot(client, second, name="Tuli O’Brien", email="tuli.hamutenya@kapana.example"))
    rows = data(made.owner.get(f"{made.events}/will-call", query_string={"q": q}))["slots"]
    names = [row["name"] for row in rows]
    assert names == found or (q in ("o'b", "'", "\\", "& | !", "e") and set(names) <= {"Zoë Großmann", "Tuli O’Brien"})
    by_code = data(made.owner.get(f"{made.events}/will-call", query_string={"q": code[:6].lower()}))["slots"]
    assert [item["code"] for item in by_code] == [code]


def test_will_call_list_is_paged_by_name(client: Client) -> None:
    made = create_block(client, quantity=5)
    for name in ("Eva", "Ana", "Cia", "Dia", "Bea"):
        made.claimed(1, name)
    seen: list[str] = []
    cursor: dict[str, Any] = {}
    while True:
        page = data(
            made.owner.get(f"{made.events}/will-call", query_string={"limit": 2, "withTotal": "true", **cursor})
        )
        assert page["pagination"]["total"] == 5
        seen += [slot["name"][:3] for slot in page["slots"]]
        if page["pagination"]["nextCursor"] is None:
            break
        cursor = {"cursor": page["pagination"]["nextCursor"]}
    assert seen == ["Ana", "Bea", "Cia", "Dia", "Eva"]
