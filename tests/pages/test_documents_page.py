"""Uploading documents on their page, as a browser without scripts does it."""

from io import BytesIO
from typing import Any

import pytest
from flask import Flask

from tests.factories.accounts import list_mails_to
from tests.factories.applications import EMAIL, PDF, create_approved_application, find_mailed_token
from tests.factories.events import create_organiser_client
from tests.http import Client
from tests.pages.pages import Visitor

KINDS = ("identity", "business_registration", "tax_clearance", "food_safety")


def file(content: bytes = PDF, name: str = "scan.pdf") -> Any:
    return BytesIO(content), name


@pytest.fixture
def token(client: Client) -> str:
    create_approved_application(client, create_organiser_client(client))
    return find_mailed_token("documents")


def test_documents_are_handed_in_and_the_fee_comes_next(client: Client, visitor: Visitor, token: str) -> None:
    page = visitor.open(f"/documents/{token}")
    assert page.status_code == 200 and "Food safety certificate" in page.text
    page = visitor.send(**{kind: file() for kind in KINDS})
    assert "<h1>We have your documents</h1>" in page.text
    assert f'href="/pay/{find_mailed_token("pay")}">Pay the stall fee' in page.text
    mail = list_mails_to(EMAIL)[0]
    assert mail["subject"] == "Windhoek Lights: your documents are in"
    assert f"/pay/{find_mailed_token('pay')}" in mail["text"] and "/pay/" in mail["html"]


def test_what_is_missing_is_said_at_its_field_and_what_came_is_kept(visitor: Visitor, token: str) -> None:
    visitor.open(f"/documents/{token}")
    page = visitor.send(identity=file(name="My ID.PDF"))
    assert page.status_code == 422
    assert page.text.count("Choose a file: tax clearance certificate.") == 2
    assert visitor.elements["tax_clearance"]["aria-invalid"] == "true"
    assert "aria-invalid" not in visitor.elements["identity"]
    assert "My ID.pdf" in page.text
    page = visitor.send(**{kind: file() for kind in KINDS[1:]})
    assert "<h1>We have your documents</h1>" in page.text


def test_documents_can_be_kept_for_later(visitor: Visitor, token: str) -> None:
    visitor.open(f"/documents/{token}")
    page = visitor.send(identity=file(), later="1")
    assert page.status_code == 200 and "Use the same link to upload the rest" in page.text


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (
            b"%PDF-1.7\n" + b"0" * (11 * 1024 * 1024),
            "This file has 11.1 MB, and 10 MB is the most. To make it smaller,",
        ),
        (b"<html>no document</html>", "we can only read PDF, JPEG and PNG files"),
        (b"%PDF-1.7 and nothing else", "this file is damaged or cut off"),
        (b"\xff\xd8\xff and no picture", "this file is damaged or cut off"),
        (b"", "we can only read PDF, JPEG and PNG files"),
    ],
)
def test_a_file_that_is_no_document_is_refused_at_its_field(
    visitor: Visitor, token: str, content: bytes, words: str
) -> None:
    visitor.open(f"/documents/{token}")
    page = visitor.send(identity=file(content), tax_clearance=file())
    assert page.status_code == 422
    assert page.text.count(words) == 2
    assert visitor.elements["identity"]["aria-invalid"] == "true"


def test_a_wrong_file_is_named_with_the_missing_ones_and_the_good_ones_are_kept(visitor: Visitor, token: str) -> None:
    visitor.open(f"/documents/{token}")
    page = visitor.send(
        identity=file(name="My ID.pdf"),
        business_registration=file(b"no document"),
        taxClearanceExpiresOn="soon",
        tax_clearance=file(name="Tax.pdf"),
    )
    assert page.status_code == 422
    wrong = {name for name, element in visitor.elements.items() if element.get("aria-invalid") == "true"}
    assert wrong == {"business_registration", "taxClearanceExpiresOn", "food_safety"}
    assert "Uploaded:</span> My ID.pdf" in page.text and "Tax.pdf" not in page.text
    page = visitor.send(
        business_registration=file(), food_safety=file(), tax_clearance=file(), taxClearanceExpiresOn=""
    )
    assert "<h1>We have your documents</h1>" in page.text


def test_a_wrong_file_leaves_the_earlier_one_of_its_kind(visitor: Visitor, token: str) -> None:
    visitor.open(f"/documents/{token}")
    visitor.send(**{kind: file(name=f"{kind}.pdf") for kind in KINDS}, later="1")
    page = visitor.send(identity=file(b"no document"), identityExpiresOn="2040-01-01")
    assert page.status_code == 422 and "<h1>Upload your documents</h1>" in page.text
    assert visitor.elements["identity"]["aria-invalid"] == "true"
    shown = visitor.open(f"/documents/{token}")
    assert "identity.pdf" in shown.text and "2040-01-01" not in shown.text


def test_a_wrong_file_after_the_documents_are_in_changes_nothing(visitor: Visitor, token: str) -> None:
    visitor.open(f"/documents/{token}")
    form = visitor.forms[0]
    visitor.send(**{kind: file() for kind in KINDS})
    page = visitor.flask.post(f"/documents/{token}", data={**form.fields, "identity": file(b"no document")})
    assert page.status_code == 303 and page.location.endswith(f"/documents/{token}")


def test_files_of_documents_that_are_not_required_are_left_aside(client: Client, visitor: Visitor) -> None:
    create_approved_application(client, create_organiser_client(client), documentsRequired=["identity"])
    token = find_mailed_token("documents")
    visitor.open(f"/documents/{token}")
    form = visitor.forms[0]
    sent = {**form.fields, "identity": file(), "food_safety": file(b"junk"), "foodSafetyExpiresOn": "soon"}
    page = visitor.flask.post(f"/documents/{token}", data=sent)
    assert page.status_code == 303 and "kept" not in page.location
    assert "<h1>We have your documents</h1>" in visitor.open(f"/documents/{token}").text


def test_more_than_all_documents_may_have_together_leads_to_the_form_again(visitor: Visitor, token: str) -> None:
    visitor.open(f"/documents/{token}")
    page = visitor.send(identity=file(b"0" * (42 * 1024 * 1024)))
    assert page.status_code == 413 and "<h1>Upload your documents</h1>" in page.text and visitor.forms
    assert "You sent 42.1 MB, and this page takes at most 41 MB at once." in page.text
    for nonsense in ("x", "-1", "9" * 40, "²", ""):
        assert visitor.open(f"/documents/{token}?tooLarge={nonsense}").status_code == 200


def test_the_page_is_not_kept_and_tells_no_referer(app: Flask, visitor: Visitor, token: str) -> None:
    page = visitor.open(f"/documents/{token}")
    assert page.headers["Cache-Control"] == "no-store"
    assert page.headers["Referrer-Policy"] == "no-referrer"
    assert "unsafe" not in page.headers["Content-Security-Policy"]
    assert visitor.open("/documents/not-a-token").status_code == 404
