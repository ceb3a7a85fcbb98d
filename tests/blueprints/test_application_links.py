"""Links, documents and private files over HTTP."""

from io import BytesIO

import pytest
import time_machine
from PIL import Image
from sqlalchemy import text

from app.core.transaction import transaction
from tests.factories.accounts import create_account, create_signed_in_client, list_mails_to
from tests.factories.applications import (
    EMAIL,
    LIST,
    PDF,
    build_application_body,
    create_application,
    create_approved_application,
    decide_application,
    find_mailed_token,
    submit_documents,
    upload_documents,
)
from tests.factories.events import create_organiser_client, create_published_event
from tests.http import Client, data, list_problems, read_error

KINDS = ("identity", "business_registration", "tax_clearance", "food_safety")


def make_image(kind: str) -> bytes:
    buffer = BytesIO()
    Image.new("RGB", (40, 40), "#A84C1B").save(buffer, kind)
    return buffer.getvalue()


def test_approval_mails_all_due_links_in_one_mail(client: Client) -> None:
    create_approved_application(client, create_organiser_client(client))
    mail, _ = list_mails_to(EMAIL)
    for part in (mail["text"], mail["html"]):
        assert "/documents/" in part and "/pay/" in part and "/activate/" not in part


def test_reading_does_not_use_a_link_and_unknown_tokens_are_404(client: Client) -> None:
    create_approved_application(client, create_organiser_client(client))
    token = find_mailed_token("documents")
    for _ in range(10):
        assert data(client.get(f"{LIST}/docs/{token}"))["status"] == "awaiting_documents"
    assert submit_documents(client, token)["submittedAt"]
    for wrong_token in (token[:-1], token.swapcase(), "x"):
        assert read_error(client.get(f"{LIST}/docs/{wrong_token}")) == (404, "NOT_FOUND")
    assert read_error(client.get(f"{LIST}/pay/{token}")) == (404, "NOT_FOUND")
    assert read_error(client.get(f"/api/merchant-activation/{token}")) == (404, "NOT_FOUND")


def test_new_link_replaces_the_old_one_and_is_shown_and_mailed(client: Client) -> None:
    owner = create_organiser_client(client)
    application = create_application(client, owner)
    decide_application(owner, application)
    old_token = find_mailed_token("documents")
    new_link = data(owner.post(f"{LIST}/{application['id']}/links", {"purpose": "documents"}), 201)
    assert new_link["mailedTo"] == EMAIL and new_link["url"].endswith(find_mailed_token("documents"))
    assert read_error(client.get(f"{LIST}/docs/{old_token}")) == (410, "LINK_EXPIRED")
    assert client.get(f"{LIST}/docs/{find_mailed_token('documents')}").status_code == 200
    early_request = owner.post(f"{LIST}/{application['id']}/links", {"purpose": "activation"})
    assert read_error(early_request) == (409, "NOTHING_DUE")
    assert read_error(
        create_organiser_client(client).post(f"{LIST}/{application['id']}/links", {"purpose": "documents"})
    ) == (
        404,
        "NOT_FOUND",
    )


@pytest.mark.parametrize(("page", "days"), [("documents", 14), ("pay", 14), ("activate", 7)])
def test_links_are_valid_for_their_lifetime(client: Client, page: str, days: int) -> None:
    owner = create_organiser_client(client)
    create_approved_application(
        client, owner, **({"amountMinor": 0, "documentsRequired": []} if page == "activate" else {})
    )
    find_mailed_token(page)
    with transaction() as session:
        lifetime = session.execute(text("SELECT min(expires_at - created_at) FROM application_link")).scalar_one()
    assert lifetime.days == days


def test_only_fingerprints_of_tokens_are_stored(client: Client) -> None:
    create_approved_application(client, create_organiser_client(client))
    token = find_mailed_token("documents")
    with transaction() as session:
        for table in ("application_link", "outbox"):
            assert token not in str(session.execute(text(f"SELECT * FROM {table}")).all())


def test_content_type_is_detected_from_the_content(client: Client) -> None:
    create_approved_application(client, create_organiser_client(client))
    token = find_mailed_token("documents")
    for kind, content in zip(KINDS, (PDF, make_image("JPEG"), make_image("PNG")), strict=False):
        rows = data(upload_documents(client, token, kind, content=content))["documents"]
        assert next(row for row in rows if row["kind"] == kind)["status"] == "uploaded"
    types = {row["kind"]: row.get("contentType") for row in rows}
    assert types == {
        "identity": "application/pdf",
        "business_registration": "image/jpeg",
        "tax_clearance": "image/png",
        "food_safety": None,
    }


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"<html>",
        b"%PDF-1.7 cut off",
        b"\xff\xd8\xff not really",
        make_image("GIF"),
        make_image("BMP"),
        b"PK\x03\x04" + PDF.replace(b"%PDF", b"XPDF"),
        b"\x89PNG\r\n\x1a\nbroken",
        b"<svg/>",
        b"MZ" + b"0" * 2000 + PDF,
    ],
)
def test_file_that_is_no_document_is_refused(client: Client, content: bytes) -> None:
    create_approved_application(client, create_organiser_client(client))
    token = find_mailed_token("documents")
    response = upload_documents(client, token, "identity", content=content)
    assert read_error(response) == (415, "DOCUMENT_TYPE_UNSUPPORTED")
    assert response.get_json()["data"]["kind"] == "identity"
    assert all(row["status"] == "missing" for row in data(client.get(f"{LIST}/docs/{token}"))["documents"])


def test_document_may_have_ten_mebibytes(client: Client) -> None:
    create_approved_application(client, create_organiser_client(client))
    token = find_mailed_token("documents")
    largest_document = PDF[:9] + b"0" * (10 * 1024 * 1024 - len(PDF)) + PDF[9:]
    assert upload_documents(client, token, "identity", content=largest_document).status_code == 200
    assert read_error(upload_documents(client, token, "identity", content=largest_document + b"\n")) == (
        413,
        "DOCUMENT_TOO_LARGE",
    )
    assert read_error(upload_documents(client, token, "identity", content=b"0" * 42 * 1024 * 1024)) == (
        413,
        "PAYLOAD_TOO_LARGE",
    )


def test_empty_body_submits_and_reports_missing_documents(client: Client) -> None:
    create_approved_application(client, create_organiser_client(client))
    token = find_mailed_token("documents")
    upload_documents(client, token, "identity", "tax_clearance")
    response = client.post(f"{LIST}/docs/{token}")
    assert read_error(response) == (409, "DOCUMENTS_MISSING")
    missing = [item["kind"] for item in response.get_json()["data"]["missing"]]
    assert missing == ["business_registration", "food_safety"]
    upload_documents(client, token, *missing)
    for _ in range(2):
        assert data(client.post(f"{LIST}/docs/{token}"))["status"] == "awaiting_payment"
    assert read_error(upload_documents(client, token, "identity")) == (409, "DOCUMENTS_CLOSED")
    assert list_problems(upload_documents(client, token, "diary")) == {"diary": "unknown_field"}


def test_failed_submission_keeps_the_uploaded_files(client: Client) -> None:
    owner = create_organiser_client(client)
    application = create_application(client, owner)
    decide_application(owner, application)
    token = find_mailed_token("documents")
    assert read_error(upload_documents(client, token, "identity", submit="true")) == (409, "DOCUMENTS_MISSING")
    codes = [
        (requirement["code"], requirement.get("kind"))
        for requirement in data(owner.get(f"{LIST}/{application['id']}"))["requirements"]
    ]
    assert codes == [*(("DOCUMENT_MISSING", kind) for kind in KINDS[1:]), ("PAYMENT_DUE", None)]


def test_a_picture_is_shown_and_a_pdf_downloaded(client: Client) -> None:
    owner = create_organiser_client(client)
    application = create_application(client, owner)
    decide_application(owner, application)
    for content, disposition in ((make_image("PNG"), "inline"), (PDF, "attachment")):
        upload_documents(client, find_mailed_token("documents"), "identity", content=content)
        url = data(owner.get(f"{LIST}/{application['id']}"))["documents"][0]["url"].removeprefix(
            "http://localhost:8000"
        )
        headers = client.get(url).headers
        assert (
            headers["Content-Disposition"].startswith(disposition) and "sandbox" in headers["Content-Security-Policy"]
        )
        assert headers["X-Content-Type-Options"] == "nosniff"


def test_read_link_is_valid_for_five_minutes(client: Client) -> None:
    owner = create_organiser_client(client)
    application = create_application(client, owner)
    decide_application(owner, application)
    upload_documents(client, find_mailed_token("documents"), "identity")
    url = data(owner.get(f"{LIST}/{application['id']}"))["documents"][0]["url"].removeprefix("http://localhost:8000")
    response = client.get(url)
    assert (response.status_code, response.data, response.content_type) == (200, PDF, "application/pdf")
    assert response.headers["Content-Disposition"].startswith("attachment")
    assert "sandbox" in response.headers["Content-Security-Policy"] and "no-store" in response.headers["Cache-Control"]
    with time_machine.travel("2030-01-01", tick=False):
        assert read_error(client.get(url)) == (410, "LINK_EXPIRED")
    for forged in (url[:-1], url.replace(".", ".1", 1), url + "x"):
        assert read_error(client.get(forged)) == (404, "NOT_FOUND")


def test_read_link_is_bound_to_document_and_decider(client: Client) -> None:
    owner, other = create_organiser_client(client), create_organiser_client(client)
    urls = []
    for organiser_client in (owner, other):
        application = create_application(client, organiser_client)
        decide_application(organiser_client, application)
        upload_documents(client, find_mailed_token("documents"), "identity")
        urls.append(data(organiser_client.get(f"{LIST}/{application['id']}"))["documents"][0]["url"].rpartition("/")[2])
    own_parts, other_parts = (url.split(".") for url in urls)
    swapped = ".".join([other_parts[0], *own_parts[1:]])
    assert read_error(client.get(f"{LIST}/files/{swapped}")) == (404, "NOT_FOUND")
    with transaction() as session:
        other_id = data(other.get("/api/auth/me"))["id"]
        session.execute(text("UPDATE merchant_application SET organiser_id = :o"), {"o": other_id})
    assert read_error(client.get(f"{LIST}/files/{urls[0]}")) == (404, "NOT_FOUND")


def test_applicant_and_public_get_no_file_url(client: Client) -> None:
    owner, merchant = (
        create_organiser_client(client),
        create_signed_in_client(client, create_account("merchant", email=EMAIL)),
    )
    application = data(merchant.post(LIST, build_application_body(eventId=create_published_event(owner)["id"])), 201)
    decide_application(owner, application)
    token = find_mailed_token("documents")
    upload_documents(client, token, "identity")
    for response in (merchant.get(f"{LIST}/{application['id']}"), client.get(f"{LIST}/docs/{token}")):
        assert "url" not in data(response)["documents"][0]
    with transaction() as session:
        name = session.execute(text("SELECT stored_as FROM application_document")).scalar_one()
    assert client.get(f"/media/{name}").status_code == 404


def test_text_instead_of_a_file_is_refused(client: Client) -> None:
    create_approved_application(client, create_organiser_client(client))
    response = client.post(
        f"{LIST}/docs/{find_mailed_token('documents')}",
        data={"identity": "no file"},
        content_type="multipart/form-data",
    )
    assert list_problems(response) == {"identity": "invalid_type"}
