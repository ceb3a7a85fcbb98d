"""One object of each kind with its owner, and the means to restore all tables after a write."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from io import BytesIO
from typing import Any

from sqlalchemy import text

from app.accounts.models import Account, OrganiserProfile
from app.accounts.permissions import MERCHANT, ORGANISER
from app.accounts.sessions import create_session
from app.accounts.team_models import TeamMember
from app.core.db import db, transaction_engine
from app.core.transaction import transaction
from app.teams.queries import build_invite_token
from tests.factories import allocations, applications, crew, events, merchants, payouts
from tests.factories.accounts import PASSWORD, create_account, find_newest_code, run_jobs, sign_in
from tests.factories.applications import TRANSFER_DAY
from tests.http import Client, data
from tests.security.requests import MESSAGE, build_picture

FORGED = (
    "eyJhbGciOiJub25lIiwidHlwIjoiSldUIn0.eyJzdWIiOiI2NTY1YTFmMGMzZDJlMWIwYTlmOGU3ZDYiLCJyb2xlcyI6WyJhZG1pbiJd"
    "LCJ0aWVyIjoic3VwZXJfYWRtaW4iLCJ0eXBlIjoiYWNjZXNzIn0."
)
UNVERIFIED = "unverified_"
"""The prefix of callers of the grid while their address is unverified."""
STATES, RESTORE = "kept_table_states", "SELECT restore_kept_tables()"
ALL_ROLES = ["customer", "merchant", "organiser", "admin"]


@dataclass
class World:
    """`callers` by the names of the grid; `things` has the ids and secrets of the objects."""

    client: Client
    callers: dict[str, Client] = field(default_factory=dict, repr=False)
    things: dict[str, Any] = field(default_factory=dict, repr=False)
    ids: dict[str, str] = field(default_factory=dict)

    def build(self) -> "World":
        self._people()
        self._event()
        self._stall()
        self._applications()
        self._teams()
        self._passwords()
        self.callers |= {f"{UNVERIFIED}{role}": self.callers[role] for role in ("customer", "merchant", "organiser")}
        self._identities()
        save_tables()
        return self

    @contextmanager
    def as_caller(self, name: str) -> Iterator[Client]:
        """The client of a caller. With the prefix UNVERIFIED their address is unverified inside the block."""
        role = name.removeprefix(UNVERIFIED)
        if role == name:
            yield self.callers[name]
            return
        self._verify(role, "NULL")
        yield self.callers[name]
        self._verify(role, "created_at")

    def _verify(self, role: str, moment: str) -> None:
        with transaction_engine(db.engine).begin() as connection:
            statement = f"UPDATE account SET email_verified_at = {moment} WHERE id = :id"
            connection.execute(text(statement), {"id": self.ids[role]})

    def caller(self, name: str, role: str, **details: Any) -> Account:
        who = create_account(role, **details)
        self.callers[name] = self.client.as_(sign_in(self.client, who.email)["accessToken"])
        self.ids[name] = who.id
        return who

    def _people(self) -> None:
        """Create all callers but the merchants."""
        self.callers |= {"nobody": self.client, "forged": self.client.as_(FORGED)}
        customer = self.caller("customer", "customer")
        self.things["customer_email"] = customer.email
        self.things["accountId"] = create_account("customer").id
        with transaction() as session:
            self.things["sessionId"] = create_session(session, customer).session_id
        organiser = self.caller("organiser", "organiser")
        with transaction() as session:
            session.add(
                OrganiserProfile(
                    account_id=organiser.id, org_name="Windhoek Lights", pending_contact_email="hello@example.com"
                )
            )
        self.caller("other_organiser", "organiser")
        self.things["unverified_email"] = self.caller("new_organiser", "organiser", verified=False).email
        for tier in ("analyst", "support", "admin", "super_admin"):
            self.caller(tier, "admin", admin_tier=tier)
        gone = create_account("admin", roles=ALL_ROLES)
        session = sign_in(self.client, gone.email)
        data(self.client.post("/api/auth/logout", {"refreshToken": session["refreshToken"]}))
        self.callers["ended"] = self.client.as_(session["accessToken"])
        spare = create_account("customer")
        self.things["refresh_token"] = sign_in(self.client, spare.email)["refreshToken"]

    def _event(self) -> None:
        owner = self.callers["organiser"]
        block = allocations.create_block(
            self.client, owner=owner, quantity=20, holder={"name": "Bank", "email": "b@bank.na"}
        )
        other = allocations.create_another_block(block)
        claimed, claim_token, scanned, passed_on = block.codes(4)
        slot = data(allocations.claim_slot(self.client, claimed))["slotId"]
        scan = {"placeId": data(allocations.claim_slot(self.client, scanned))["slotId"], "nonce": "gate-a-000000"}
        admission = data(owner.post(f"/api/events/{block.event['id']}/admissions", scan))["admissionId"]
        form = {"file": (BytesIO(b"reference,ticketType\n"), "tickets.csv")}
        tickets = f"/api/events/{block.event['id']}/tickets"
        imported = data(owner.open("POST", f"{tickets}/import", data=form, content_type="multipart/form-data"))
        pack = data(owner.post(f"{block.path}/packs", {"count": 1}), 202)["id"]
        assert owner.get(f"{block.path}/invoice.pdf").status_code == 200, "opening it issues it"
        invoice = data(owner.get(f"{block.path}/invoice"))
        money = f"/api/events/{block.event['id']}/money"
        (document,) = data(owner.get(f"{money}/documents"))["documents"]
        file_id = data(owner.post(f"{money}/settlement"), 202)["fileId"]
        paid = allocations.create_another_block(block)
        data(paid.post("invoice/email", to="books@bank.na"), 202)
        part = {"amountMinor": 85000, "reference": "EFT 1", "receivedOn": TRANSFER_DAY, "part": True}
        data(paid.post("invoice/received", **part))
        credited = allocations.create_another_block(block)
        data(credited.post("invoice/email", to="books@bank.na"), 202)
        data(credited.post("release-unused"))
        run_jobs()
        cover = data(
            owner.post(
                "/api/events/upload-cover",
                data={"file": (build_picture(), "a.png")},
                content_type="multipart/form-data",
            ),
            201,
        )["url"]
        foreign = events.create_published_event(self.callers["other_organiser"])
        messages = f"/api/events/{block.event['id']}/notifications"
        draft = data(owner.post(f"{messages}/broadcast", MESSAGE), 202)
        data(owner.post(f"{messages}/suppressions", {"address": "gone@example.com"}))
        self.things |= {
            "eventId": block.event["id"],
            "id": block.event["id"],
            "foreignEventId": foreign["id"],
            "ticketTypeId": block.ticket_type_id,
            "blockId": block.id,
            "otherBlockId": other.id,
            "paidBlockId": paid.id,
            "creditedBlockId": credited.id,
            "invoiceDueMinor": invoice["dueMinor"],
            "documentId": document["id"],
            "fileId": file_id,
            "slotId": slot,
            "admissionId": admission,
            "importId": imported["importId"],
            "packId": pack,
            "claim_token": claim_token,
            "ticket_token": data(allocations.claim_slot(self.client, passed_on))["ticketUrl"].rpartition("/")[2],
            "allocator_token": block.allocator(),
            "name": cover.rpartition("/")[2],
            "campaignId": draft["campaignId"],
        }
        self._stock()
        run_jobs()

    def _stock(self) -> None:
        owner, path = self.callers["organiser"], f"/api/events/{self.things['eventId']}/inventory"
        low = {"parLevel": 30, "minOrderQty": 1, "reorderLevel": 10, "onHand": 4, "reserved": 0, "damaged": 0}
        item = data(owner.post(f"{path}/items", {"name": "Lager", "sku": "BEE-1", "supplier": "B", **low}), 201)
        (order,) = data(owner.post(f"{path}/reorder/apply"))["orders"]
        job = data(owner.get(f"{path}/reports?format=pdf"), 202)["jobId"]
        run_jobs()
        report = data(owner.get(f"{path}/reports?jobId={job}"))["downloadUrl"]
        self.things |= {"itemId": item["id"], "orderId": order["id"], "report_token": report.rpartition("/")[2]}

    def _stall(self) -> None:
        owner, event = self.callers["organiser"], self.things["eventId"]
        me, who = payouts.create_earning_merchant(self.client, 100_000)
        other, _ = payouts.create_earning_merchant(self.client, 100_000)
        self.callers |= {"merchant": me, "other_merchant": other}
        self.ids["merchant"] = who.id
        new = merchants.create_merchant_account(verified=False)
        self.callers["new_merchant"] = self.client.as_(sign_in(self.client, new.email)["accessToken"])
        merchants.answer_invitation(me, merchants.invite_merchants(owner, event, who)["invited"][0]["inviteId"])
        pending = merchants.invite_merchants(owner, events.create_published_event(owner)["id"], who)["invited"][0][
            "inviteId"
        ]
        path = f"/api/merchants/me/events/{event}/crew"
        (member,) = crew.replace_crew(me, path, {"name": "Selma"})
        payout = payouts.request_payout(me, 100, mode="schedule", scheduledFor="2026-12-24")
        slug = data(owner.post(f"/api/events/{event}/merchant-invite", {"businessName": "Braai"}), 201)
        self.things |= {
            "inviteId": pending,
            "crewMemberId": member["id"],
            "shift_code": member["shiftCode"],
            "payoutId": payout["id"],
            "slug": slug["slug"],
            "merchantId": who.id,
            "uninvited": merchants.create_merchant_account().id,
        }

    def _applications(self) -> None:
        owner, event = self.callers["organiser"], self.things["eventId"]
        mine = applications.create_application(self.callers["merchant"], eventId=event)
        approved = applications.create_application(self.client, eventId=event)
        applications.decide_application(owner, approved)
        documents, pay = applications.find_mailed_token("documents"), applications.find_mailed_token("pay")
        data(applications.upload_documents(self.client, documents, "identity"))
        data(self.client.post(f"{applications.LIST}/pay/{pay}"))
        shown = data(owner.get(f"{applications.LIST}/{approved['id']}"))["documents"][0]["url"]
        email = "ready@example.com"
        free = applications.create_application(self.client, eventId=event, amountMinor=0, email=email)
        applications.decide_application(owner, free, documentsRequired=[])
        paid = applications.create_application(self.client, eventId=event, email="paid@example.com")
        applications.decide_application(owner, paid)
        transfer = {"amountMinor": 250000, "reference": paid["reference"], "receivedOn": TRANSFER_DAY}
        data(owner.post(f"{applications.LIST}/{paid['id']}/fee/received", transfer))
        offered = applications.create_offered_application(self.client, owner, email="waiting@example.com")
        self.things |= {
            "offer_token": applications.find_mailed_token("place-offer", "waiting@example.com"),
            "applicationId": mine["id"],
            "paidId": paid["id"],
            "approvedId": approved["id"],
            "offeredId": offered["id"],
            "documents_token": documents,
            "pay_token": pay,
            "file_token": shown.rpartition("/")[2],
            "activation_token": applications.find_mailed_token("activate", email),
        }

    def _teams(self) -> None:
        owner, event = self.callers["organiser"], self.things["eventId"]
        invite = data(
            owner.post("/api/organisations/me/members", {"email": self.things["customer_email"], "role": "door"}),
            201,
        )
        device = data(owner.post(f"/api/events/{event}/devices", {"kind": "gate", "name": "Gate A"}), 201)
        key = data(
            owner.post("/api/organisations/me/api-keys", {"name": "Shop", "scopes": ["gate"], "password": PASSWORD}),
            201,
        )
        member = self.add_member(ORGANISER, self.ids["organiser"], "viewer")
        self.things |= {
            "memberId": member,
            "membershipId": member,
            "merchantMemberId": self.add_member(MERCHANT, self.ids["merchant"], "cashier"),
            "team_invite_token": build_invite_token(invite["id"]),
            "deviceId": device["id"],
            "pairing_code": device["pairingCode"],
            "keyId": key["id"],
        }

    def add_member(
        self, kind: str, team_id: str, role: str, event_ids: list[str] | None = None, *, caller: str = ""
    ) -> str:
        """Add a new account to a team, under the name `caller` if given; return the id of the membership."""
        account = create_account("customer")
        with transaction() as session:
            member = TeamMember(team_id=team_id, kind=kind, account_id=account.id, role=role, event_ids=event_ids)
            session.add(member)
        if caller:
            self.callers[caller] = self.client.as_(sign_in(self.client, account.email)["accessToken"])
            self.ids[caller] = account.id
        return member.id

    def _passwords(self) -> None:
        newcomer, forgetful = "newcomer@example.com", create_account("customer").email
        body = {"email": newcomer, "password": "a quiet evening", "firstName": "N", "lastName": "C"}
        data(self.client.post("/api/auth/register/customer", body), 201)
        customer = self.things["customer_email"]
        for email in (forgetful, customer):
            data(self.client.post("/api/auth/password-reset/request", {"email": email}))
        sent = {"email": customer, "code": find_newest_code(customer)}
        token = data(self.client.post("/api/auth/password-reset/verify", sent))["resetToken"]
        self.things |= {
            "newcomer": newcomer,
            "newcomer_code": find_newest_code(newcomer),
            "forgetful": forgetful,
            "reset_code": find_newest_code(forgetful),
            "reset_token": token,
        }

    def _identities(self) -> None:
        """Link Google to every account; all have a password too."""
        with transaction() as session:
            link = "INSERT INTO external_identity (provider, subject, account_id) SELECT :provider, id, id FROM account"
            session.execute(text(f"{link} ON CONFLICT DO NOTHING"), {"provider": "google"})
        self.things["provider"] = "google"


def save_tables() -> None:
    """Copy the rows of all tables into tables named `kept_…`, and create the function that restores them."""
    drop_saved_tables()
    with transaction_engine(db.engine).begin() as connection:
        for table in db.metadata.sorted_tables:
            connection.execute(text(f'CREATE UNLOGGED TABLE "kept_{table.name}" AS TABLE "{table.name}"'))
        connection.execute(text(f"CREATE UNLOGGED TABLE {STATES} (name text PRIMARY KEY, state text)"))
        connection.execute(text(_write_restore_function()))
        connection.execute(text(RESTORE))


def drop_saved_tables() -> None:
    db.session.remove()
    with transaction_engine(db.engine).begin() as connection:
        for table in db.metadata.sorted_tables:
            connection.execute(text(f'DROP TABLE IF EXISTS "kept_{table.name}"'))
        connection.execute(text(f"DROP TABLE IF EXISTS {STATES}"))


def restore_tables() -> None:
    """Restore the rows of the tables that have changed, without triggers and foreign keys."""
    db.session.remove()
    with transaction_engine(db.engine).begin() as connection:
        connection.execute(text(RESTORE))


def _write_restore_function() -> str:
    """The function in SQL. A table is unchanged while it has as many rows, and none of a later transaction."""
    steps = []
    for table in db.metadata.sorted_tables:
        name, columns = table.name, ", ".join(f'"{item.name}"' for item in table.columns if item.computed is None)
        state = f"""SELECT concat(count(*), ' ', max(xmin::text::bigint)) INTO current_rows FROM "{name}";"""
        steps.append(
            f"""{state}
            IF NOT EXISTS (SELECT FROM {STATES} WHERE name = '{name}' AND state = current_rows) THEN
                DELETE FROM "{name}";
                INSERT INTO "{name}" ({columns}) OVERRIDING SYSTEM VALUE SELECT {columns} FROM "kept_{name}";
                {state}
                INSERT INTO {STATES} VALUES ('{name}', current_rows) ON CONFLICT (name) DO UPDATE SET state = excluded.state;
            END IF;"""
        )
    return f"""
        CREATE OR REPLACE FUNCTION restore_kept_tables() RETURNS void LANGUAGE plpgsql
        SET session_replication_role = replica AS $$ DECLARE current_rows text; BEGIN {" ".join(steps)} END $$"""
