"""Links, documents and private files over HTTP."""

from io import BytesIO

import pytest
import time_machine
from PIL import Image
from sqlalchemy import text

from app.core.transaction import transaction
from tests.factories.accounts import account, mails_to, signed_in
from tests.factories.applications import EMAIL, LIST, PDF, applied, approved, body, decided, handed_in, link, upload
from tests.factories.events import organiser, published
from tests.http import Client, data, problems, refusal

KINDS = ("identity", "business_registration", "tax_clearance", "food_safety")


def picture(kind: str) -> bytes:
    out = BytesIO()
    Image.new("RGB", (40, 40), "#A84C1B").save(out, kind)
    return out.getvalue()


def test_an_approval_mails_the_links_that_are_due_in_one_mail(client: Client) -> None:
    approved(client, organiser(client))
    (mail,) = mails_to(EMAIL)
    for part in (mail["text"], mail["html"]):
        assert "/documents/" in part and "/pay/" in part and "/activate/" not in part


def test_looking_consumes_nothing_and_unknown_tokens_are_unknown(client: Client) -> None:
    approved(client, organiser(client))
    token = link("documents")
    for _ in range(10):
        assert data(client.get(f"{LIST}/docs/{token}"))["status"] == "awaiting_documents"
    assert handed_in(client, token)["submittedAt"]
    for wrong in (token[:-1], token.swapcase(), "x"):
        assert refusal(client.get(f"{LIST}/docs/{wrong}")) == (404, "NOT_FOUND")
    assert refusal(client.get(f"{LIST}/pay/{token}")) == (404, "NOT_FOUND")
    assert refusal(client.get(f"/api/merchant-activation/{token}")) == (404, "NOT_FOUND")


def test_a_fresh_link_replaces_the_old_one_and_is_shown_and_mailed(client: Client) -> None:
    owner = organiser(client)
    made = applied(client, owner)
    decided(owner, made)
    old = link("documents")
    given = data(owner.post(f"{LIST}/{made['id']}/links", {"purpose": "documents"}), 201)
    assert given["mailedTo"] == EMAIL and given["url"].endswith(link("documents"))
    assert refusal(client.get(f"{LIST}/docs/{old}")) == (410, "LINK_EXPIRED")
    assert client.get(f"{LIST}/docs/{link('documents')}").status_code == 200
    early = owner.post(f"{LIST}/{made['id']}/links", {"purpose": "activation"})
    assert refusal(early) == (409, "NOTHING_DUE")
    assert refusal(organiser(client).post(f"{LIST}/{made['id']}/links", {"purpose": "documents"})) == (404, "NOT_FOUND")


@pytest.mark.parametrize(("page", "days"), [("documents", 14), ("pay", 14), ("activate", 7)])
def test_links_live_as_long_as_they_should(client: Client, page: str, days: int) -> None:
    owner = organiser(client)
    approved(client, owner, **({"amountMinor": 0, "documentsRequired": []} if page == "activate" else {}))
    link(page)
    with transaction() as session:
        left = session.execute(text("SELECT min(expires_at - created_at) FROM application_link")).scalar_one()
    assert left.days == days


def test_only_fingerprints_of_tokens_are_stored(client: Client) -> None:
    approved(client, organiser(client))
    token = link("documents")
    with transaction() as session:
        for table in ("application_link", "outbox"):
            assert token not in str(session.execute(text(f"SELECT * FROM {table}")).all())


def test_files_are_told_by_their_content(client: Client) -> None:
    approved(client, organiser(client))
    token = link("documents")
    for kind, content in zip(KINDS, (PDF, picture("JPEG"), picture("PNG")), strict=False):
        rows = data(upload(client, token, kind, content=content))["documents"]
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
        picture("GIF"),
        picture("BMP"),
        b"PK\x03\x04" + PDF.replace(b"%PDF", b"XPDF"),
        b"\x89PNG\r\n\x1a\nbroken",
        b"<svg/>",
        b"MZ" + b"0" * 2000 + PDF,
    ],
)
def test_what_is_no_document_is_refused(client: Client, content: bytes) -> None:
    approved(client, organiser(client))
    token = link("documents")
    answer = upload(client, token, "identity", content=content)
    assert refusal(answer) == (415, "DOCUMENT_TYPE_UNSUPPORTED")
    assert answer.get_json()["data"]["kind"] == "identity"
    assert all(row["status"] == "missing" for row in data(client.get(f"{LIST}/docs/{token}"))["documents"])


def test_a_document_has_ten_mebibytes_at_most(client: Client) -> None:
    approved(client, organiser(client))
    token = link("documents")
    fits = PDF[:9] + b"0" * (10 * 1024 * 1024 - len(PDF)) + PDF[9:]
    assert upload(client, token, "identity", content=fits).status_code == 200
    assert refusal(upload(client, token, "identity", content=fits + b"\n")) == (413, "DOCUMENT_TOO_LARGE")
    assert refusal(upload(client, token, "identity", content=b"0" * 42 * 1024 * 1024)) == (413, "PAYLOAD_TOO_LARGE")


def test_an_empty_body_hands_in_and_says_what_is_missing(client: Client) -> None:
    approved(client, organiser(client))
    token = link("documents")
    upload(client, token, "identity", "tax_clearance")
    answer = client.post(f"{LIST}/docs/{token}")
    assert refusal(answer) == (409, "DOCUMENTS_MISSING")
    missing = [item["kind"] for item in answer.get_json()["data"]["missing"]]
    assert missing == ["business_registration", "food_safety"]
    upload(client, token, *missing)
    for _ in range(2):
        assert data(client.post(f"{LIST}/docs/{token}"))["status"] == "awaiting_payment"
    assert refusal(upload(client, token, "identity")) == (409, "DOCUMENTS_CLOSED")
    assert problems(upload(client, token, "diary")) == {"diary": "unknown_field"}


def test_files_and_handing_in_at_once_keeps_the_files_when_others_are_missing(client: Client) -> None:
    owner = organiser(client)
    made = applied(client, owner)
    decided(owner, made)
    token = link("documents")
    assert refusal(upload(client, token, "identity", submit="true")) == (409, "DOCUMENTS_MISSING")
    codes = [
        (requirement["code"], requirement.get("kind"))
        for requirement in data(owner.get(f"{LIST}/{made['id']}"))["requirements"]
    ]
    assert codes == [*(("DOCUMENT_MISSING", kind) for kind in KINDS[1:]), ("PAYMENT_DUE", None)]


def test_a_document_is_read_by_its_deciders_for_five_minutes(client: Client) -> None:
    owner = organiser(client)
    made = applied(client, owner)
    decided(owner, made)
    upload(client, link("documents"), "identity")
    url = data(owner.get(f"{LIST}/{made['id']}"))["documents"][0]["url"].removeprefix("http://localhost:8000")
    answer = client.get(url)
    assert (answer.status_code, answer.data, answer.content_type) == (200, PDF, "application/pdf")
    assert answer.headers["Content-Disposition"].startswith("attachment")
    assert "sandbox" in answer.headers["Content-Security-Policy"] and "no-store" in answer.headers["Cache-Control"]
    with time_machine.travel("2030-01-01", tick=False):
        assert refusal(client.get(url)) == (410, "LINK_EXPIRED")
    for forged in (url[:-1], url.replace(".", ".1", 1), url + "x"):
        assert refusal(client.get(forged)) == (404, "NOT_FOUND")


def test_a_reading_link_is_tied_to_the_document_and_to_who_decides(client: Client) -> None:
    owner, other = organiser(client), organiser(client)
    urls = []
    for who in (owner, other):
        made = applied(client, who)
        decided(who, made)
        upload(client, link("documents"), "identity")
        urls.append(data(who.get(f"{LIST}/{made['id']}"))["documents"][0]["url"].rpartition("/")[2])
    mine, theirs = (url.split(".") for url in urls)
    swapped = ".".join([theirs[0], *mine[1:]])
    assert refusal(client.get(f"{LIST}/files/{swapped}")) == (404, "NOT_FOUND")
    with transaction() as session:
        session.execute(text("UPDATE merchant_application SET organiser_id = :o"), {"o": theirs[1]})
    assert refusal(client.get(f"{LIST}/files/{urls[0]}")) == (404, "NOT_FOUND")


def test_an_applicant_and_the_public_get_no_address_of_a_file(client: Client) -> None:
    owner, merchant = organiser(client), signed_in(client, account("merchant", email=EMAIL))
    made = data(merchant.post(LIST, body(eventId=published(owner)["id"])), 201)
    decided(owner, made)
    token = link("documents")
    upload(client, token, "identity")
    for answer in (merchant.get(f"{LIST}/{made['id']}"), client.get(f"{LIST}/docs/{token}")):
        assert "url" not in data(answer)["documents"][0]
    with transaction() as session:
        name = session.execute(text("SELECT stored_as FROM application_document")).scalar_one()
    assert client.get(f"/media/{name}").status_code == 404


def test_text_in_place_of_a_document_is_refused(client: Client) -> None:
    approved(client, organiser(client))
    sent = client.post(
        f"{LIST}/docs/{link('documents')}", data={"identity": "no file"}, content_type="multipart/form-data"
    )
    assert problems(sent) == {"identity": "invalid_type"}
