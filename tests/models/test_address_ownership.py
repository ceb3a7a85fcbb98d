"""The ownership of one address as a state machine over the real application: owner and attacker, in any order.

The laws: nothing that an earlier holder of the address has made works for a later one, a verified address is never the
attacker's, and the owner can always get in by the mailbox. An account may be both people's for a while: the attacker
registers in the owner's name, and the owner enters the code. Then a reset makes it the owner's alone. While it is both
people's, the attacker may move it to another address, which the owner undoes by the link in the mail, or turn on a second
factor, which operators turn off.
"""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from flask import Flask
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test
from pytest_httpserver import HTTPServer
from sqlalchemy import text

from app.accounts import actions, address_reservations, authentication
from app.accounts.models import Account
from app.core.db import db
from app.core.errors import LinkExpired, NotFound
from app.core.transaction import transaction
from app.merchants import payout_details
from app.merchants.models import Merchant
from tests.blueprints.test_external_login import configure_provider
from tests.clients.identity_provider import IdentityProvider
from tests.conftest import empty
from tests.factories.accounts import list_mails_to, run_jobs
from tests.factories.events import build_event_body as event_body
from tests.http import Client
from tests.models.actors import (
    ACTING_IN,
    ADDRESS,
    KINDS,
    LEFT_BEHIND,
    UNPROVEN_LINKS,
    Actor,
    code_mailed,
    find_undo_link,
    later,
)
from tests.models.profile import model_settings

WHO = st.sampled_from(["owner", "attacker"])
OTHER_MAILBOXES = {"owner": "frieda.private@example.com", "attacker": "mallory@evil.example"}
PICK = st.sampled_from([0, 0, 0, 0, 1, 3])


def _somebody_is_signed_in(machine: Any) -> bool:
    return bool(machine.owner.sessions or machine.attacker.sessions)


class AddressOwnership(RuleBasedStateMachine):
    """`made_by` says who made each account, or that both can sign in to it; the rest is asked of the database."""

    app: Flask
    google: IdentityProvider

    def __init__(self) -> None:
        super().__init__()
        empty(self.app)
        self.owner = Actor(self.app, self.google, "Frieda", ADDRESS, "+264811111111")
        self.attacker = Actor(self.app, self.google, "Mallory", "mallory@evil.example", "+264812222222")
        self.made_by: dict[str, str] = {}
        self.shared: set[str] = set()
        self.events: list[tuple[str, str]] = []
        self.slugs: list[tuple[str, str]] = []
        self.reset_token: str | None = None
        self.second_factor_by: dict[str, str] = {}

    def holder(self) -> Account | None:
        db.session.remove()
        return db.session.query(Account).filter_by(email=ADDRESS).one_or_none()

    def actor(self, who: str) -> Actor:
        return self.owner if who == "owner" else self.attacker

    def credit(self, who: str) -> None:
        """Anyone who acted has made the account that was not there before."""
        found = self.holder()
        if found is not None:
            self.made_by.setdefault(found.id, who)

    def session(self, who: str, pick: int) -> dict[str, Any] | None:
        """The newest session of the actor or one before, living or ended."""
        sessions = self.actor(who).sessions
        return sessions[-1 - pick % len(sessions)] if sessions else None

    @rule(who=WHO, kind=st.sampled_from(KINDS), fresh_password=st.booleans(), owners_name=st.booleans())
    def register(self, who: str, kind: str, fresh_password: bool, owners_name: bool) -> None:
        before, actor = self.holder(), self.actor(who)
        actor.password_number += fresh_password
        assert actor.register(kind, name=self.owner.name if owners_name else None).status_code == 201
        after = self.holder()
        if after is None:
            assert self.is_reserved(), "only a reserved address gets no account"
            return
        if before is None or before.email_verified_at is None:
            assert after.id not in self.made_by, "a registration gives the address to a new account"
        else:
            assert after.id == before.id
        self.credit(who)
        self.log_in(who)

    @rule(who=WHO, kind=st.sampled_from(KINDS), pick=PICK)
    def register_signed_in(self, who: str, kind: str, pick: int) -> None:
        session = self.session(who, pick)
        assert session is None or self.actor(who).register(kind, session).status_code in (201, 401, 422, 429)
        self.credit(who)

    def is_reserved(self) -> bool:
        with transaction() as session:
            return address_reservations.is_reserved(session, ADDRESS)

    @precondition(_somebody_is_signed_in)
    @rule(who=WHO, pick=PICK)
    def turn_on_second_factor(self, who: str, pick: int) -> None:
        session = self.session(who, pick)
        if session is not None and self.actor(who).turn_on_second_factor(session):
            self.second_factor_by[session["user"]["id"]] = who

    @precondition(_somebody_is_signed_in)
    @rule(who=WHO, pick=PICK)
    def turn_off_second_factor(self, who: str, pick: int) -> None:
        session = self.session(who, pick)
        if session is not None:
            body = {"password": self.actor(who).password}
            answer = self.actor(who).send("DELETE", "/api/auth/second-factor", body, session)
            assert answer.status_code in (200, 401, 409, 422, 429), answer.text

    @precondition(_somebody_is_signed_in)
    @rule(who=WHO, pick=PICK)
    def move_to_another_address(self, who: str, pick: int) -> None:
        session = self.session(who, pick)
        email = OTHER_MAILBOXES[who]
        if session is not None and self.actor(who).change_address(email, session):
            self.reset_token = None

    @precondition(_somebody_is_signed_in)
    @rule(pick=PICK)
    def claim_the_address_by_a_change(self, pick: int) -> None:
        """The attacker cannot read the code, and guesses."""
        session = self.session("attacker", pick)
        if session is None:
            return
        body = {"newEmail": ADDRESS, "password": self.attacker.password}
        assert self.attacker.post("/api/auth/change-email", body, session).status_code in (200, 401, 403, 422, 429)
        for number in range(6):
            answer = self.attacker.post("/api/auth/change-email/confirm", {"code": f"00000{number}"}, session)
            assert answer.status_code in (401, 422)

    @rule()
    def undo_the_change_of_address(self) -> None:
        """The account returns to the owner, and nothing of the attacker works in it any more."""
        token = find_undo_link()
        if token is None:
            return
        was_reserved = self.is_reserved()
        try:
            assert actions.undo_address_change(token=token) == ADDRESS
        except (LinkExpired, NotFound):
            # An account that was deleted has no link. An earlier link than the newest may be the open one.
            return
        assert was_reserved, "a link that works reserves the address"
        self.reset_token = None
        found = self.holder()
        assert found is not None and found.password_hash is None
        self.made_by[found.id] = "owner"

    @rule(who=WHO)
    def log_in(self, who: str) -> None:
        assert self.actor(who).log_in().status_code in (200, 401, 429)

    @precondition(_somebody_is_signed_in)
    @rule(who=WHO, pick=PICK)
    def refresh(self, who: str, pick: int) -> None:
        session = self.session(who, pick)
        if session is not None:
            answer = self.actor(who).sign_in("refresh", {"refreshToken": session["refreshToken"]})
            assert answer.status_code in (200, 401)

    @precondition(_somebody_is_signed_in)
    @rule(who=WHO, pick=PICK)
    def link_google(self, who: str, pick: int) -> None:
        actor, session = self.actor(who), self.session(who, pick)
        if session is not None:
            assert actor.use_google(actor.own_address, True, session).status_code in (200, 401, 403, 409)

    @rule(who=WHO, email_verified=st.booleans())
    def sign_in_by_google(self, who: str, email_verified: bool) -> None:
        """With a verified address of one's own, or claiming the address without Google's word for it."""
        actor = self.actor(who)
        email, before = actor.own_address if email_verified else ADDRESS, self.holder()
        answer = actor.use_google(email, email_verified)
        allowed = (200, 401) if email_verified else (200, 401, 409)
        assert answer.status_code in allowed, "401: the account has a second factor"
        found, signed_in = self.holder(), (answer.get_json()["data"] or {}).get("user")
        if found and signed_in and signed_in["id"] == found.id:
            self.check_new_account(before, found)
            if before is not None and before.id != found.id:
                # The new account is verified by Google, and the owner's own token was for the one that it replaces.
                self.reset_token = None
        self.credit(who)

    def check_new_account(self, before: Account | None, found: Account) -> None:
        """The person who proves the mailbox gets a new account, never an unverified one that was there."""
        assert before is None or before.email_verified_at is not None or found.id != before.id

    @precondition(_somebody_is_signed_in)
    @rule(who=WHO, pick=PICK)
    def unlink_google(self, who: str, pick: int) -> None:
        session = self.session(who, pick)
        if session is not None:
            answer = self.actor(who).send("DELETE", "/api/auth/identities/google", None, session)
            assert answer.status_code in (200, 401, 404, 409)

    @precondition(_somebody_is_signed_in)
    @rule(who=WHO, pick=PICK)
    def set_payout_details(self, who: str, pick: int) -> None:
        actor, session = self.actor(who), self.session(who, pick)
        if session is not None:
            actor.take_role("merchant", session)
            self.credit(who)
            body = {"payoutDetails": {"destination": "payrail", "msisdn": actor.msisdn}, "settings": {}}
            answer = actor.send("PATCH", "/api/merchants/me", body, session)
            assert answer.status_code in (200, 401, 403), answer.text

    @precondition(_somebody_is_signed_in)
    @rule(who=WHO, pick=PICK)
    def make_event_and_link(self, who: str, pick: int) -> None:
        actor, session = self.actor(who), self.session(who, pick)
        if session is None:
            return
        actor.take_role("organiser", session)
        self.credit(who)
        answer = actor.send("POST", "/api/events", event_body(), session)
        if answer.status_code != 201:
            return
        event = answer.get_json()["data"]["id"]
        self.events.append((event, session["user"]["id"]))
        link = actor.send("POST", f"/api/events/{event}/merchant-invite", {"businessName": "Braai"}, session)
        if link.status_code == 201:
            self.slugs.append((link.get_json()["data"]["slug"], event))

    @precondition(_somebody_is_signed_in)
    @rule(who=WHO, pick=PICK)
    def delete_merchant(self, who: str, pick: int) -> None:
        actor, session = self.actor(who), self.session(who, pick)
        if session is not None:
            confirmed = {"currentPassword": actor.password, "confirmation": "DELETE"}
            answer = actor.send("POST", "/api/merchants/me/delete", confirmed, session)
            assert answer.status_code in (200, 401, 403, 422, 429), answer.text
            self.reset_token = None if answer.status_code == 200 else self.reset_token

    @rule(path=st.sampled_from(["resend-verification", "password-reset/request"]), who=WHO)
    def ask_for_a_code(self, path: str, who: str) -> None:
        assert self.actor(who).post(f"/api/auth/{path}", {"email": ADDRESS}).status_code in (200, 429)

    @rule(path=st.sampled_from(["verify-email", "password-reset/verify"]))
    def guess_codes(self, path: str) -> None:
        for number in range(6):
            body = {"email": ADDRESS, "code": f"00000{number}"}
            assert self.attacker.post(f"/api/auth/{path}", body).status_code == 422

    @rule()
    def verify(self) -> None:
        """The owner enters a code only for an account that bears the owner's name."""
        code = code_mailed("confirm")
        if code is not None:
            answer = self.owner.post("/api/auth/verify-email", {"email": ADDRESS, "code": code})
            assert answer.status_code in (200, 422)
            found = self.holder()
            if found and answer.status_code == 200 and self.made_by[found.id] == "attacker":
                self.made_by[found.id] = "both"
                self.shared.add(found.id)

    @rule()
    def prove_the_mailbox_for_a_reset(self) -> None:
        code = code_mailed("choose a new password")
        answer = code and self.owner.post("/api/auth/password-reset/verify", {"email": ADDRESS, "code": code})
        if answer and answer.status_code == 200:
            self.reset_token = answer.get_json()["data"]["resetToken"]

    @precondition(lambda self: self.reset_token is not None)
    @rule()
    def complete_the_reset(self) -> None:
        """Nothing that the attacker does in between voids the owner's token."""
        assert self.complete(str(self.reset_token)) == 200
        self.reset_token = None

    def complete(self, token: str) -> int:
        self.owner.password_number, before = self.owner.password_number + 1, self.holder()
        body = {"email": ADDRESS, "resetToken": token, "password": self.owner.password}
        status = self.owner.post("/api/auth/password-reset/complete", body).status_code
        self.credit("owner")
        found = self.holder()
        if status == 200 and found:
            self.check_new_account(before, found)
            self.made_by[found.id] = "owner"
        return status

    @rule(interval=st.sampled_from(["61 seconds", "16 minutes", "25 hours", "8 days"]))
    def let_time_pass(self, interval: str) -> None:
        later(interval)
        if interval != "61 seconds":
            self.reset_token = None

    @invariant()
    def a_verified_address_is_the_owners(self) -> None:
        found = self.holder()
        if found is None or self.made_by[found.id] == "both":
            return
        if found.email_verified_at is not None:
            assert self.made_by[found.id] == "owner", "the attacker's account has a verified address"
        other = self.attacker if self.made_by[found.id] == "owner" else self.owner
        assert not authentication.verify_password(found.password_hash, other.password)
        kept = db.session.get(Merchant, found.id)
        details = (
            payout_details.decrypt_payout_details(found.id, kept.payout_details) if kept and kept.profile_id else {}
        )
        # What was set in a shared account stays there: its owner was told by mail, and the first payout to it rests.
        assert found.id in self.shared or other.msisdn not in str(details), "payout details of somebody else"

    @invariant()
    def the_attacker_has_no_second_factor_in_an_account_of_the_owner(self) -> None:
        found = self.holder()
        if found is not None and found.second_factor_since is not None:
            assert found.email_verified_at is not None
            who = self.second_factor_by[found.id]
            assert who == "owner" or found.id in self.shared or self.made_by[found.id] == "attacker"

    @invariant()
    def nobody_acts_in_an_account_of_the_other(self) -> None:
        db.session.remove()
        for who in ("owner", "attacker"):
            ids = [session["refreshToken"].partition(".")[0] for session in self.actor(who).sessions]
            with transaction() as session:
                acting_in = session.execute(text(ACTING_IN), {"ids": ids, "email": ADDRESS}).scalars().all()
            others = [item for item in acting_in if self.made_by[item] not in (who, "both")]
            assert others == [], f"{who} acts in an account of the other"

    @invariant()
    def nothing_of_a_retired_account_goes_on_working(self) -> None:
        run_jobs()
        db.session.remove()
        with transaction() as session:
            assert session.execute(text(LEFT_BEHIND)).all() == []
            assert session.execute(text(UNPROVEN_LINKS)).all() == [], "an unverified account is linked"
            retired = set(session.execute(text("SELECT id FROM account WHERE retired_at IS NOT NULL")).scalars())
        ended = {event for event, account in self.events if account in retired}
        for slug, event in self.slugs:
            if event in ended:
                assert Client(self.app.test_client()).get(f"/api/events/merchant-invite/{slug}").status_code == 410

    def teardown(self) -> None:
        """The owner gets in by the mailbox, also when codes are blocked; the attacker gets in no more.

        Where a second factor is lost, operators turn it off.
        """
        self.undo_the_change_of_address()
        if self.holder() is None:
            return
        for interval in ("61 seconds", "25 hours"):
            later(interval)
            if self.owner.post("/api/auth/password-reset/request", {"email": ADDRESS}).status_code == 200:
                break
        texts = [mail["text"] for mail in list_mails_to(ADDRESS)]
        link = next(filter(None, (re.search(r"/reset-password/link/(\S+)", item) for item in texts)))
        assert self.complete(link[1]) == 200
        actions.reset_second_factor(email=ADDRESS)
        assert self.owner.log_in().status_code == 200
        found = self.holder()
        assert self.attacker.log_in().status_code == 401
        signed_in = self.attacker.use_google(self.attacker.own_address, True).get_json()["data"]
        assert found and signed_in.get("user", {}).get("id") != found.id
        self.a_verified_address_is_the_owners()
        self.nothing_of_a_retired_account_goes_on_working()


@pytest.fixture
def google(app: Flask, httpserver: HTTPServer) -> Iterator[IdentityProvider]:
    yield from configure_provider(app, IdentityProvider(httpserver, "google"))


@pytest.mark.timeout(3600)
def test_no_order_of_events_takes_an_address(app: Flask, google: IdentityProvider) -> None:
    AddressOwnership.app, AddressOwnership.google = app, google
    run_state_machine_as_test(AddressOwnership, settings=model_settings())
