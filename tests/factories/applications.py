"""Applications for tests, created over HTTP."""

import re
from datetime import date, timedelta
from typing import Any

from sqlalchemy import select

from app.accounts.models import OrganiserProfile
from app.applications.models import Application
from app.applications.waitlist import offer_next_place
from app.core.transaction import transaction
from tests.factories.accounts import list_mails_to
from tests.factories.events import create_published_event
from tests.http import Client, data
from tests.leaks.ledger import RUN

LIST = "/api/merchant-applications"
EMAIL = "tuli@kapana-corner.example"
PATH = "/merchants/start"
PDF = b"%PDF-1.7\n1 0 obj<</Type/Catalog>>endobj\nxref\n0 1\ntrailer<</Root 1 0 R>>\nstartxref\n9\n%%EOF\n"
CODE = "123456"
TRANSFER_DAY = (date.today() - timedelta(days=5)).isoformat()
"""A day of the last year, as that of a bank transfer must be."""
BANK = {"bank_account_name": "Lights CC", "bank_account_number": "62001234567", "bank_name": "Bank Windhoek"}


def build_application_body(**fields: Any) -> dict[str, Any]:
    """The body of an application for a food stall with a fee of N$ 2 500. Fields that are None are left out."""
    all_fields = {
        "amountMinor": 250000,
        "destination": "payrail",
        "mode": "now",
        "payrailMsisdn": "+264811234567",
        "businessName": "Kapana Corner",
        "contactName": "Tuli Hamutenya",
        "email": EMAIL,
        "phone": "+264811234567",
        "stallType": "Food",
        **fields,
    }
    return {name: value for name, value in all_fields.items() if value is not None}


def create_application(client: Client, owner: Client | None = None, **fields: Any) -> dict[str, Any]:
    """A new application, to a new event if there is an organiser."""
    if owner is not None and "eventId" not in fields:
        fields["eventId"] = create_published_event(owner, name="Windhoek Lights")["id"]
    return data(client.post(LIST, build_application_body(**fields)), 201)


def decide_application(
    owner: Client, application: dict[str, Any], decision: str = "approved", **fields: Any
) -> dict[str, Any]:
    return data(owner.patch(f"{LIST}/{application['id']}", {"decision": decision, **fields}))


def create_approved_application(client: Client, owner: Client, **fields: Any) -> dict[str, Any]:
    """An approved application. `documentsRequired` goes into the decision, other fields into the application."""
    decision_fields = {name: fields.pop(name) for name in ("documentsRequired",) if name in fields}
    return decide_application(owner, create_application(client, owner, **fields), **decision_fields)


def find_mailed_token(page: str, email: str = EMAIL) -> str:
    """The token of the newest mailed link to a page."""
    for mail in list_mails_to(email):
        match = re.search(rf"/{page}/([\w-]+)", mail["text"])
        if match:
            RUN.add(match[1])
            return match[1]
    raise AssertionError(f"no mail to {email} has a link to /{page}")


def give_bank_details(*, transfers_only: bool = False) -> None:
    """Gives the organiser of the only application a profile with a bank account."""
    with transaction() as session:
        organiser_id = session.scalars(select(Application.organiser_id)).one()
        account = {"account_id": organiser_id, "org_name": "Lights", "transfers_only": transfers_only}
        session.add(OrganiserProfile(**account, **BANK, bank_branch_code="482172"))


def upload_documents(client: Client, token: str, *kinds: str, content: bytes = PDF, **form: str) -> Any:
    """The response to an upload of documents of these kinds, all with the same content."""
    from io import BytesIO

    files = {kind: (BytesIO(content), f"{kind}.pdf") for kind in kinds}
    return client.post(f"{LIST}/docs/{token}", data={**files, **form}, content_type="multipart/form-data")


def submit_documents(client: Client, token: str) -> dict[str, Any]:
    """Submits all four documents."""
    kinds = ("identity", "business_registration", "tax_clearance", "food_safety")
    return data(upload_documents(client, token, *kinds, submit="true"))


def pay_stall_fee(client: Client, token: str) -> dict[str, Any]:
    """Pays the stall fee with the code."""
    data(client.post(f"{LIST}/pay/{token}"))
    return data(client.post(f"{LIST}/pay/{token}/payrail/verify-otp", {"code": CODE}))


def create_offered_application(client: Client, owner: Client, **fields: Any) -> dict[str, Any]:
    """An application on the waitlist that has the offer of a place, by `find_mailed_token("place-offer")`."""
    stall_types = [{"name": "Food", "feeMinor": 250000, "quantity": 1}]
    event = create_published_event(owner, name="Windhoek Lights", stallTypes=stall_types)
    application = create_application(client, eventId=event["id"], **fields)
    waiting = decide_application(owner, application, "waitlisted")
    assert offer_next_place(event["id"], "Food")
    return waiting


def build_activation_body(**fields: Any) -> dict[str, Any]:
    """The form of an activation."""
    password = fields.pop("password", "charcoal and a canvas roof")
    return {
        "name": "Tuli Hamutenya",
        "password": password,
        "confirmPassword": password,
        "message": "See you at gate B.",
        "path": PATH,
        **fields,
    }


def create_ready_application(client: Client, owner: Client, **fields: Any) -> str:
    """The activation token of an approved application without fee and documents."""
    create_approved_application(client, owner, **{"amountMinor": 0, "documentsRequired": [], **fields})
    return find_mailed_token("activate", fields.get("email", EMAIL))
