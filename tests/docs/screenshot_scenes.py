"""What has to happen in the demo before its pages can be photographed, told through the Python client."""

import json
import re
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote
from urllib.request import urlopen

from app.demo import PASSWORD
from tests.house.sources import ROOT

sys.path.insert(0, str(ROOT / "clients" / "python"))

from event_commerce import Client  # noqa: E402

RUUSA, OTTO = "ruusa@ruusa-bakes.example", "otto@example.com"
PDF = b"%PDF-1.7\n1 0 obj<</Type/Catalog>>endobj\nxref\n0 1\ntrailer<</Root 1 0 R>>\nstartxref\n9\n%%EOF\n"


@dataclass
class Story:
    """A bakery that is invited, applies and pays; a sponsor whose guest claims a ticket."""

    base: str

    def __post_init__(self) -> None:
        self.anybody, self.organiser = Client(self.base), Client(self.base)
        self.organiser.sign_in("nangula@windhoek-lights.example", PASSWORD)
        self.event = self.anybody.discover(q="windhoek lights")["events"][0]["id"]
        self.block = ""

    def invitation(self) -> str:
        """The page behind an invitation to apply."""
        made = self.organiser.merchant_invite(
            self.event,
            email=RUUSA,
            business_name="Ruusa Bakes",
            stall_type="Food stall",
            message="Your bread at gate B? We would love to have you.",
        )
        self.slug: str = made["slug"]
        return f"/merchant-invite/{self.slug}"

    def documents(self) -> str:
        """The page on which an approved applicant sends documents; one of two is there."""
        made = self.anybody.submit(
            amount_minor=150000,
            destination="payrail",
            mode="now",
            payrail_msisdn="081 123 4567",
            invite_slug=self.slug,
            business_name="Ruusa Bakes",
            contact_name="Ruusa Nakale",
            email=RUUSA,
            stall_type="Food stall",
        )
        wanted = ["identity", "food_safety"]
        self.organiser.decide(made["id"], decision="approved", documents_required=wanted)
        path = self.mailed("documents", RUUSA)
        self.anybody.hand_in(path.rpartition("/")[2], identity=PDF)
        return path

    def pay(self) -> str:
        """The page that asks for the code from the wallet."""
        self.anybody.hand_in(self.mailed("documents", RUUSA).rpartition("/")[2], food_safety=PDF, submit="true")
        path = self.mailed("pay", RUUSA)
        self.anybody.pay(path.rpartition("/")[2])
        return path

    def activate(self) -> str:
        """The page that opens the account."""
        self.anybody.verify_otp(self.mailed("pay", RUUSA).rpartition("/")[2], code="123456")
        return self.mailed("activate", RUUSA)

    def claim(self) -> str:
        """The page on which a sponsor's guest says who comes."""
        kept = self.organiser.list_blocks(self.event)["allocations"]
        self.block = kept[-1]["id"]
        self.organiser.invite(self.event, self.block, recipients=[{"name": "Otto Haihambo", "email": OTTO}])
        return self.mailed("claim", OTTO)

    def allocator(self) -> str:
        """The sponsor's own page."""
        return "/" + str(self.organiser.allocator_link(self.event, self.block)["url"]).split("/", 3)[3]

    def unsubscribe(self) -> str:
        """The page behind the last line of an organiser's message."""
        return self.mailed("unsubscribe", "", subject="gates open")

    def ticket_mail(self) -> str:
        """The mail with a ticket, as its HTML."""
        return f"/dev/mail/{self._newest(lambda it: it['subject'].endswith('your ticket'), OTTO)['id']}/html"

    def invoice(self) -> bytes:
        return self.organiser.invoice_pdf(self.event, self.block)

    def mailed(self, page: str, to: str, *, subject: str = "") -> str:
        """The path of the newest link to a page in a mail."""
        said = self._newest(lambda it: subject in it["subject"] and f"/{page}/" in it["text"], to)["text"]
        found = re.search(rf"/{page}/[\w-]+(\.[\w-]+)*", said)
        assert found
        return found[0]

    def _newest(self, wanted: Callable[[dict[str, Any]], bool], to: str = "") -> dict[str, Any]:
        """The newest message that is wanted; the worker may still be busy with it."""
        for _ in range(150):
            with urlopen(f"{self.base}/dev/mail.json?to={quote(to)}") as answer:
                for item in json.load(answer):
                    if wanted(item):
                        return dict(item)
            time.sleep(0.2)
        raise AssertionError(f"no such message to {to or 'anybody'}")
