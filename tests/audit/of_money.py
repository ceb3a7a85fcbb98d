"""Money: payouts, settlements, stall fees and invoices."""

from datetime import timedelta

from app.applications import commands as stall_payments
from app.audit.actions import Action
from app.clients.payrail import TransferOutcome, TransferState
from app.payouts import actions
from tests.audit.scenes import records
from tests.factories.allocations import create_block
from tests.factories.applications import (
    TRANSFER_DAY,
    create_application,
    create_approved_application,
    decide_application,
    find_mailed_token,
    pay_stall_fee,
)
from tests.factories.events import create_organiser_client
from tests.factories.payouts import (
    PATH,
    FakeRail,
    advance_time,
    create_earning_merchant,
    execute_sql,
    request_payout,
    run_all_jobs,
    use_rail,
)
from tests.http import Client, data


@records(Action.PAYOUT_DETAILS_CHANGED, Action.SETTLEMENT_IMPORTED, Action.PAYOUT_REQUESTED, Action.PAYOUT_CANCELLED)
def requesting_and_cancelling_a_payout(client: Client) -> None:
    me, _ = create_earning_merchant(client, 5000)
    payout = request_payout(me, mode="schedule", scheduledFor="2026-12-24T08:00:00Z")
    for _ in range(2):
        data(me.post(f"{PATH}/{payout['id']}/cancel"))


@records(Action.PAYOUT_STOPPED)
def stopping_payouts_by_the_mailed_link(client: Client) -> None:
    me, _ = create_earning_merchant(client, 5000)
    actions.stop_payouts(request_payout(me, mode="schedule", scheduledFor="2026-12-24T08:00:00Z")["id"])


@records(Action.PAYOUT_RESOLVED, Action.REVIEW_CLOSED)
def resolving_a_payout(client: Client) -> None:
    me, _ = create_earning_merchant(client, 5000)
    with use_rail(FakeRail(answer=TransferState(outcome=TransferOutcome.UNKNOWN))):
        payout_id = request_payout(me)["id"]
        run_all_jobs()
        advance_time(timedelta(hours=73))
    assert actions.resolve_payout(payout_id, "failed", "asked the bank") == "failed"


@records(Action.STALL_FEE_SET, Action.STALL_FEE_PAID)
def setting_and_paying_a_stall_fee(client: Client) -> None:
    owner = create_organiser_client(client)
    application = create_application(client, owner)
    decide_application(owner, application, documentsRequired=[], feeMinor=5000, reason="a charity")
    pay_stall_fee(client, find_mailed_token("pay"))


@records(Action.STALL_FEE_RECEIVED, Action.STALL_FEE_WAIVED, Action.STALL_FEE_REFUNDED)
def recording_stall_fees(client: Client) -> None:
    owner = create_organiser_client(client)
    transfer = {"amountMinor": 250000, "reference": "MA-7K2P9QXT", "receivedOn": TRANSFER_DAY}
    for verb, body in (("received", transfer), ("waive", {"reason": "a school"})):
        application = create_approved_application(client, owner, documentsRequired=[])
        data(owner.post(f"/api/merchant-applications/{application['id']}/fee/{verb}", body))
        if verb == "received":
            path = f"/api/merchant-applications/{application['id']}/fee/refund"
            data(owner.post(path, {"reason": "They fell ill"}))


@records(Action.STALL_FEE_INVOICED, Action.STALL_FEE_CREDITED, Action.FEE_INVOICE_EXPORTED)
def invoicing_a_stall_fee(client: Client) -> None:
    owner = create_organiser_client(client)
    application = create_approved_application(client, owner, documentsRequired=[])
    pay_stall_fee(client, find_mailed_token("pay"))
    path = f"/api/merchant-applications/{application['id']}"
    assert owner.get(f"{path}/invoice").status_code == 200
    data(owner.post(f"{path}/fee/refund", {"reason": "They fell ill"}))
    run_all_jobs()


@records(Action.STALL_FEE_RESOLVED)
def resolving_a_stall_payment(client: Client) -> None:
    create_approved_application(client, create_organiser_client(client), documentsRequired=[])
    token = find_mailed_token("pay")
    payment_id = data(client.post(f"/api/merchant-applications/pay/{token}"))["paymentId"]
    execute_sql("UPDATE stall_payment SET status = 'processing', tries = 1 WHERE id = :id", id=payment_id)
    stall_payments.resolve_payment(payment_id, "not-taken", "asked the rail")


@records(
    Action.INVOICE_ISSUED,
    Action.INVOICE_MAILED,
    Action.INVOICE_RECEIVED,
    Action.PAYMENT_TAKEN_BACK,
    Action.CREDIT_NOTE_ISSUED,
    Action.INVOICE_EXPORTED,
)
def billing_a_block(client: Client) -> None:
    block = create_block(client, holder={"name": "Tuli", "email": "tuli@example.com"}, unitPriceMinor=1000)
    data(block.post("invoice/email"), 202)
    assert block.owner.get(f"{block.path}/invoice.pdf").status_code == 200
    due_minor = data(block.owner.get(f"{block.path}/invoice"))["dueMinor"]
    data(block.post("invoice/received", amountMinor=due_minor, reference="EFT 1", receivedOn=TRANSFER_DAY))
    data(block.post("invoice/received/take-back", number=1, reason="Another invoice"))
    data(block.post("release-unused", quantity=2))
    run_all_jobs()
