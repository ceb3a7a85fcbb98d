"""Applying, deciding, documents, stall fee and activation over HTTP."""

from tests.factories.accounts import mails_to, sign_in
from tests.factories.applications import (
    EMAIL,
    LIST,
    PATH,
    activation,
    applied,
    decided,
    handed_in,
    link,
    paid,
)
from tests.factories.events import organiser
from tests.http import Client, data, refusal


def test_the_whole_way_from_the_form_to_the_stall(client: Client) -> None:
    owner = organiser(client)
    made = applied(client, owner)
    assert made["status"] == "submitted" and made["reference"].startswith("MA-")
    assert decided(owner, made)["status"] == "awaiting_documents"
    assert mails_to(EMAIL)[0]["subject"] == "Windhoek Lights: your stall is approved"

    assert handed_in(client, link("documents"))["status"] == "awaiting_payment"
    assert paid(client, link("pay"))["status"] == "paid"
    row = data(owner.get(f"{LIST}/{made['id']}"))
    assert row["status"] == "ready"
    assert [each["code"] for each in row["requirements"]] == ["ACTIVATION_DUE"]

    token = link("activate")
    about = data(client.get(f"/api/merchant-activation/{token}"))
    assert (about["email"], about["existingAccount"]) == (EMAIL, False)
    done = data(client.post(f"/api/merchant-activation/{token}", activation()))
    assert done["path"] == PATH and done["user"]["roles"] == ["merchant"]
    assert sign_in(client, EMAIL, "charcoal and a canvas roof")["user"]["email"] == EMAIL
    assert refusal(client.get(f"/api/merchant-activation/{token}")) == (410, "LINK_USED")
    assert data(owner.get(f"{LIST}/{made['id']}"))["activationMessage"] == "See you at gate B."
    assert [" ".join(mail["subject"].split()) for mail in mails_to(EMAIL)] == [
        "Windhoek Lights: welcome",
        "Windhoek Lights: activate your account",
        "Windhoek Lights: receipt for N$ 2 500.00",
        "Windhoek Lights: your documents are in",
        "Windhoek Lights: your stall is approved",
    ]
