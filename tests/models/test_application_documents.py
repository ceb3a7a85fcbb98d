"""The model of an application's documents: in each order of sending, asking again, paying and activating, the state is that
of what is due, a paid fee stays paid, and nobody takes part before a file of each kind was handed in."""

from itertools import count
from typing import Any

from flask import Flask, current_app
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from tests.conftest import empty
from tests.factories.applications import (
    CODE,
    LIST,
    build_activation_body,
    create_approved_application,
    find_mailed_token,
    upload_documents,
)
from tests.factories.events import create_organiser_client
from tests.factories.payouts import execute_sql, fetch_scalar
from tests.http import Client
from tests.models.profile import model_settings

KINDS = ("identity", "tax_clearance")
SOME_KINDS = st.lists(st.sampled_from(KINDS), min_size=1, max_size=2, unique=True)
ACTIVATION_LINKS = """
    SELECT count(*) FROM application_link WHERE purpose = 'activation' AND used_at IS NULL AND replaced_at IS NULL"""
PARTICIPANTS = "SELECT count(*) FROM participation"
STATUS = "SELECT status FROM merchant_application"


class Documents(RuleBasedStateMachine):
    """One application with two documents and a fee."""

    def __init__(self) -> None:
        super().__init__()
        app: Flask = current_app._get_current_object()  # type: ignore[attr-defined]
        empty(app)
        self.client = Client(app.test_client())
        self.organiser = create_organiser_client(self.client)
        application = create_approved_application(self.client, self.organiser, documentsRequired=[*KINDS])
        self.id = application["id"]
        self.uploaded: set[str] = set()
        self.asked: set[str] = set()
        self.is_submitted = self.is_paid = self.is_activated = False
        self.reasons = (f"Reason {number}" for number in count())

    @rule(kinds=SOME_KINDS, submit=st.booleans())
    def send(self, kinds: list[str], submit: bool) -> None:
        execute_sql("DELETE FROM throttle")
        form = {"submit": "true"} if submit else {}
        answer = upload_documents(self.client, find_mailed_token("documents"), *kinds, **form)
        if self.is_submitted:
            assert answer.status_code == 409
            return
        self.uploaded |= set(kinds)
        self.asked -= set(kinds)
        is_complete = self.uploaded - self.asked == set(KINDS)
        assert answer.status_code == (409 if submit and not is_complete else 200), answer.get_json()
        self.is_submitted = submit and is_complete

    @rule(kinds=SOME_KINDS)
    def ask_again(self, kinds: list[str]) -> None:
        execute_sql("DELETE FROM throttle")
        body = {"kinds": kinds, "reason": next(self.reasons)}
        answer = self.organiser.post(f"{LIST}/{self.id}/documents/ask-again", body)
        if set(kinds) <= self.uploaded:
            assert answer.status_code == 200, answer.get_json()
            self.asked |= set(kinds)
            self.is_submitted = False
        else:
            assert answer.status_code == 422

    @rule()
    def pay(self) -> None:
        execute_sql("DELETE FROM throttle")
        path = f"{LIST}/pay/{find_mailed_token('pay')}"
        answer = self.client.post(path)
        assert answer.status_code == 200, answer.get_json()
        if not self.is_paid:
            assert self.client.post(f"{path}/payrail/verify-otp", {"code": CODE}).status_code == 200
            self.is_paid = True

    @rule()
    def activate(self) -> None:
        execute_sql("DELETE FROM throttle")
        try:
            token = find_mailed_token("activate")
        except AssertionError:
            return
        answer = self.client.post(f"/api/merchant-activation/{token}", build_activation_body())
        is_ready = self.is_submitted and self.is_paid and not self.is_activated
        assert (answer.status_code < 300) == is_ready, answer.get_json()
        self.is_activated |= is_ready

    @invariant()
    def state_is_that_of_what_is_due(self) -> None:
        if self.is_activated:
            expected = "activated"
        elif not self.is_submitted:
            expected = "awaiting_documents"
        else:
            expected = "ready" if self.is_paid else "awaiting_payment"
        assert fetch_scalar(STATUS) == expected
        assert fetch_scalar(ACTIVATION_LINKS) == (expected == "ready")
        assert fetch_scalar(PARTICIPANTS) == self.is_activated

    @invariant()
    def deciders_see_every_file_and_what_is_asked_for(self) -> None:
        row: Any = self.organiser.get(f"{LIST}/{self.id}").get_json()["data"]
        shown = {document["kind"]: document for document in row["documents"]}
        assert {kind for kind, document in shown.items() if document["status"] == "asked_again"} == self.asked
        assert {kind for kind, document in shown.items() if "url" in document} == self.uploaded
        assert (row["payment"]["status"] == "paid") == self.is_paid


def test_no_order_of_requests_loses_a_fee_or_skips_a_document(app: Flask) -> None:
    run_state_machine_as_test(Documents, settings=model_settings())
