"""The steps that bring the demo to each page of the screenshots, as API calls."""

import json
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote
from urllib.request import Request, urlopen

from app.demo import PASSWORD

APPLICANT, GUEST = "ruusa@ruusa-bakes.example", "otto@example.com"
PDF = b"%PDF-1.7\n1 0 obj<</Type/Catalog>>endobj\nxref\n0 1\ntrailer<</Root 1 0 R>>\nstartxref\n9\n%%EOF\n"
BOUNDARY = "screenshot"
MAIL_SECONDS = 90


@dataclass
class Scenes:
    """A bakery is invited, applies and pays; a sponsor's guest claims a ticket. Call the methods in their order."""

    base: str
    token: str = field(default="", repr=False)
    slug: str = ""
    block: str = ""

    def __post_init__(self) -> None:
        login = {"email": "nangula@windhoek-lights.example", "password": PASSWORD}
        self.token = self.post("auth/login", login)["accessToken"]
        self.event: str = self.get("events/public/discover?q=windhoek+lights")["events"][0]["id"]

    def create_invitation(self) -> str:
        """The path of the page behind an invitation to apply."""
        invitation = {
            "email": APPLICANT,
            "businessName": "Ruusa Bakes",
            "stallType": "Food stall",
            "message": "Your bread at gate B? We would love to have you.",
        }
        self.slug = self.post(f"events/{self.event}/merchant-invite", invitation)["slug"]
        return f"/merchant-invite/{self.slug}"

    def approve_application(self) -> str:
        """The path of the page for documents; one of two is uploaded."""
        application = {
            "amountMinor": 150000,
            "destination": "payrail",
            "mode": "now",
            "payrailMsisdn": "081 123 4567",
            "inviteSlug": self.slug,
            "businessName": "Ruusa Bakes",
            "contactName": "Ruusa Nakale",
            "email": APPLICANT,
            "stallType": "Food stall",
        }
        id = self.post("merchant-applications", application)["id"]
        decision = {"decision": "approved", "documentsRequired": ["identity", "food_safety"]}
        self.send("PATCH", f"merchant-applications/{id}", decision)
        self.upload("identity")
        return self.find_mailed_path("documents", APPLICANT)

    def start_payment(self) -> str:
        """The path of the page that asks for the code from the wallet."""
        self.upload("food_safety", submit=True)
        path = self.find_mailed_path("pay", APPLICANT)
        self.post(f"merchant-applications{path}")
        return path

    def pay(self) -> str:
        """The path of the page that activates the account."""
        path = self.find_mailed_path("pay", APPLICANT)
        self.post(f"merchant-applications{path}/payrail/verify-otp", {"code": "123456"})
        return self.find_mailed_path("activate", APPLICANT)

    def invite_guest(self) -> str:
        """The path of the page on which a sponsor's guest claims a ticket."""
        blocks = f"events/{self.event}/allocations"
        self.block = f"{blocks}/{self.get(blocks)['allocations'][-1]['id']}"
        self.post(f"{self.block}/invite", {"recipients": [{"name": "Otto Haihambo", "email": GUEST}]})
        return self.find_mailed_path("claim", GUEST)

    def create_holder_link(self) -> str:
        """The path of the sponsor's page."""
        return "/" + str(self.post(f"{self.block}/allocator-link")["url"]).split("/", 3)[3]

    def find_unsubscribe_page(self) -> str:
        """The path of the page behind the last line of an organiser's message."""
        return self.find_mailed_path("unsubscribe", "", subject="gates open")

    def find_ticket_mail(self) -> str:
        """The path of the HTML of the mail with a ticket."""
        return f"/dev/mail/{self.find_mail(lambda mail: mail['subject'].endswith('your ticket'), GUEST)['id']}/html"

    def download_invoice(self) -> bytes:
        """The invoice of the sponsor's block, as a PDF."""
        return self.request("GET", f"{self.block}/invoice.pdf")

    def find_mailed_path(self, page: str, to: str, *, subject: str = "") -> str:
        """The path of the newest link to a page in a mail."""
        mail = self.find_mail(lambda mail: subject in mail["subject"] and f"/{page}/" in mail["text"], to)
        match = re.search(rf"/{page}/[\w-]+(\.[\w-]+)*", mail["text"])
        assert match
        return match[0]

    def find_mail(self, matches: Callable[[dict[str, Any]], bool], to: str = "") -> dict[str, Any]:
        """The newest mail that matches; waits for the worker to send it."""
        deadline = time.monotonic() + MAIL_SECONDS
        while time.monotonic() < deadline:
            with urlopen(f"{self.base}/dev/mail.json?to={quote(to)}") as response:
                for mail in json.load(response):
                    if matches(mail):
                        return dict(mail)
            time.sleep(0.2)
        raise AssertionError(f"no such mail to {to or 'anybody'}")

    def upload(self, kind: str, *, submit: bool = False) -> None:
        """Upload a document of the application."""
        disposition = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="'
        body = f'{disposition}{kind}"; filename="{kind}.pdf"\r\n\r\n'.encode() + PDF + b"\r\n"
        body += f'{disposition}submit"\r\n\r\n{str(submit).lower()}\r\n--{BOUNDARY}--\r\n'.encode()
        token = self.find_mailed_path("documents", APPLICANT).rpartition("/")[2]
        path = f"merchant-applications/docs/{token}"
        self.request("POST", path, body, f"multipart/form-data; boundary={BOUNDARY}")

    def get(self, path: str) -> dict[str, Any]:
        """The data of a response."""
        return self.send("GET", path)

    def post(self, path: str, body: object = None) -> dict[str, Any]:
        """The data of the response to a body of JSON."""
        return self.send("POST", path, body)

    def send(self, method: str, path: str, body: object = None) -> dict[str, Any]:
        """The data of a response. Raises HTTPError for an error response."""
        data: dict[str, Any] = json.loads(self.request(method, path, json.dumps(body).encode() if body else None))[
            "data"
        ]
        return data

    def request(self, method: str, path: str, body: bytes | None = None, type: str = "application/json") -> bytes:
        """The body of a response of the API, with the organiser's token if there is one."""
        headers = {"Content-Type": type} | ({"Authorization": f"Bearer {self.token}"} if self.token else {})
        with urlopen(Request(f"{self.base}/api/{path}", body, headers, method=method)) as response:
            content: bytes = response.read()
        return content
