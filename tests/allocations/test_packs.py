"""Ticket packs: unnamed tickets, claimed all or none, each in one pack only."""

import re
from collections import Counter
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import text

from app.allocations import queries, ticket_packs
from app.core.transaction import transaction
from tests.allocations.blocks import block_of, festival, organiser_of
from tests.counting import record_statements
from tests.factories.accounts import run_jobs
from tests.http import Client, data, list_problems, read_error
from tests.races import run_concurrently


def count(statement: str) -> int:
    with transaction() as session:
        return int(session.scalar(text(statement)) or 0)


def path(block: Any, end: str = "") -> str:
    return f"/api/events/{block.event_id}/allocations/{block.id}/packs{end}"


def pages(pdf: bytes) -> int:
    return len(re.findall(rb"/Type /Page\b", pdf))


def test_pack_claims_unnamed_tickets_and_makes_one_pdf(client: Client) -> None:
    owner, _ = organiser_of(client)
    block = block_of(festival(owner), 30)
    made = data(owner.post(path(block), {"count": 20}), 202)
    assert (made["status"], made["progress"]) == ("queued", 0)
    assert read_error(owner.get(f"{path(block)}/{made['id']}/tickets.pdf")) == (409, "PACK_NOT_READY")
    run_jobs()
    assert data(owner.get(f"{path(block)}/{made['id']}"))["status"] == "done"
    answer = owner.get(f"{path(block)}/{made['id']}/tickets.pdf")
    assert answer.status_code == 200 and answer.content_type == "application/pdf" and pages(answer.data) == 3
    assert made["url"].endswith(f"/packs/{made['id']}/tickets.pdf")
    assert (
        count("SELECT count(*) FROM allocation_slot WHERE status = 'claimed' AND via = 'pack' AND code IS NOT NULL")
        == 20
    )
    assert count("SELECT claimed FROM ticket_type") == 20 and count("SELECT available FROM ticket_type") == 10
    assert data(owner.get(path(block)))["packs"][0]["count"] == 20
    assert owner.get(f"{path(block)}/{made['id']}/tickets.pdf").data == answer.data


def test_tickets_of_a_pack_are_admitted(client: Client) -> None:
    owner, _ = organiser_of(client)
    block = block_of(festival(owner), 2)
    data(owner.post(path(block), {"count": 2}), 202)
    with transaction() as session:
        code = session.scalar(text("SELECT code FROM allocation_slot WHERE via = 'pack' LIMIT 1"))
    gate = f"/api/events/{block.event_id}/allocations/will-call"
    (row,) = data(owner.get(gate, query_string={"q": code}))["slots"]
    data(owner.post(f"{gate}/{row['slotId']}/admit", {"nonce": "scan-1"}))
    assert count("SELECT count(*) FROM allocation_slot WHERE status = 'admitted'") == 1


def test_pack_claims_all_tickets_or_none(client: Client) -> None:
    owner, _ = organiser_of(client)
    block = block_of(festival(owner), 5)
    assert read_error(owner.post(path(block), {"count": 6})) == (409, "INSUFFICIENT_SLOTS")
    assert list_problems(owner.post(path(block), {"count": 0})) == {"count": "too_small"}
    assert list_problems(owner.post(path(block), {})) == {"count": "required"}
    assert count("SELECT count(*) FROM ticket_pack") == 0 and count("SELECT claimed FROM allocation_block") == 0


def test_same_idempotency_key_makes_one_pack(client: Client) -> None:
    owner, _ = organiser_of(client)
    block = block_of(festival(owner), 10)
    keyed = owner.with_(Idempotency_Key="pack-for-the-door")
    assert len({data(keyed.post(path(block), {"count": 3}), 202)["id"] for _ in range(3)}) == 1
    assert count("SELECT claimed FROM allocation_block") == 3


def test_concurrent_packs_share_no_ticket(client: Client) -> None:
    owner, _ = organiser_of(client)
    block = block_of(festival(owner), 20)
    answers = run_concurrently(16, lambda _: owner.post(path(block), {"count": 3}).status_code)
    assert Counter(answers) == {202: 6, 409: 10}
    assert count("SELECT count(*) FROM ticket_pack_slot") == count("SELECT claimed FROM allocation_block") == 18


@pytest.mark.control
def test_packs_fail_without_the_lock_of_the_block(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    owner, _ = organiser_of(client)
    block = block_of(festival(owner), 20)
    monkeypatch.setattr(queries, "_with_block_lock", lambda statement: statement)
    answers = run_concurrently(16, lambda _: owner.post(path(block), {"count": 3}).status_code)
    assert set(answers) - {202, 409}, "the races did not collide"


def test_other_organisers_cannot_see_packs(client: Client) -> None:
    owner, _ = organiser_of(client)
    other, _ = organiser_of(client)
    block = block_of(festival(owner), 3)
    made = data(owner.post(path(block), {"count": 1}), 202)
    pack_path = f"{path(block)}/{made['id']}"
    answers = [other.get(url) for url in (path(block), pack_path, f"{pack_path}/tickets.pdf")]
    for answer in (*answers, other.post(path(block), {"count": 1})):
        assert read_error(answer) == (404, "NOT_FOUND")


def test_drawing_is_retried_after_a_failure(app: Flask, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    owner, _ = organiser_of(client)
    block = block_of(festival(owner), 10)
    made = data(owner.post(path(block), {"count": 10}), 202)
    with monkeypatch.context() as broken:
        broken.setattr(ticket_packs.storage, "put", lambda *_, **__: 1 / 0)
        run_jobs()
    assert data(owner.get(f"{path(block)}/{made['id']}"))["status"] != "done"
    with transaction() as session:
        session.execute(text("UPDATE outbox SET run_at = now() WHERE state = 'ready'"))
    run_jobs()
    assert data(owner.get(f"{path(block)}/{made['id']}"))["progress"] == 100


def test_large_pack_runs_few_statements(client: Client) -> None:
    owner, _ = organiser_of(client)
    block = block_of(festival(owner), 420)
    with record_statements() as seen:
        data(owner.post(path(block), {"count": 410}), 202)
    assert len(seen) <= 6, seen
    with record_statements() as seen:
        run_jobs()
    assert len([item for item in seen if "allocation_slot" in item]) == 2
