"""An event with money of every kind."""

from typing import Any

from sqlalchemy import text

from app.core.outbox import enqueue
from app.core.transaction import transaction
from tests.allocations.blocks import block_of, festival, shrink
from tests.factories.accounts import run_jobs
from tests.factories.applications import (
    LIST,
    TRANSFER_DAY,
    create_approved_application,
    find_mailed_token,
    pay_stall_fee,
)
from tests.factories.organisations import register_for_vat
from tests.http import Client, data

FEE = 250000


def create_settled_event(client: Client, owner: Client) -> dict[str, Any]:
    """A registered organiser's festival: two stall fees paid, one of them partly refunded; a block paid and then
    credited, another one open; three tickets sold elsewhere, one of them refunded."""
    event = festival(owner)
    register_for_vat(owner)
    made = [
        create_approved_application(
            client, owner, eventId=event["id"], documentsRequired=[], email=f"stall{number}@example.com"
        )
        for number in range(2)
    ]
    pay_stall_fee(client, find_mailed_token("pay", "stall0@example.com"))
    transfer = {"reference": "EFT 1", "receivedOn": TRANSFER_DAY}
    data(owner.post(f"{LIST}/{made[1]['id']}/fee/received", {**transfer, "amountMinor": FEE}))
    data(
        owner.post(
            f"{LIST}/{made[1]['id']}/fee/refund", {"reason": "They fell ill", "amountMinor": 50000, "reference": "RF-1"}
        )
    )
    paid, open_block = block_of(event, name="=cmd"), block_of(event, 4)
    for block in (paid, open_block):
        path = f"/api/events/{block.event_id}/allocations/{block.id}/invoice"
        data(owner.post(f"{path}/email"), 202)
        if block is paid:
            data(owner.post(f"{path}/received", {**transfer, "amountMinor": 850000}))
    shrink(paid, 2)
    with transaction() as session:
        enqueue("allocations.credit", block_id=paid.id)
        session.execute(
            text(
                "INSERT INTO ticket (id, event_id, ticket_type_id, reference, price_minor, sold_at, status)"
                " SELECT lpad(to_hex(n), 24, '0'), :event, :kind, 'T' || n, 85000, now(),"
                " CASE n WHEN 3 THEN 'refunded' ELSE 'sold' END FROM generate_series(1, 3) n"
            ),
            {"event": event["id"], "kind": event["ticketTypes"][0]["id"]},
        )
    run_jobs()
    return event
