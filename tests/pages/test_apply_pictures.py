"""Pictures of the stall, on the page after an application was sent."""

from collections import Counter
from io import BytesIO
from threading import Barrier
from typing import Any

import pytest
from flask import Flask
from PIL import Image
from sqlalchemy import text
from sqlalchemy.orm import Session as OrmSession
from werkzeug.test import TestResponse

from app.applications.actions import picture_upload
from app.blueprints.pages import apply_pictures
from app.clients import storage
from app.core import images
from app.core.images import ReencodedImage
from app.core.transaction import transaction
from app.web.rate_limits import Limit
from tests.applications.test_replaced_files import list_files
from tests.factories.accounts import create_account, create_signed_in_client, run_jobs
from tests.factories.applications import LIST, decide_application
from tests.factories.events import create_organiser_client
from tests.factories.merchants import create_merchant_account
from tests.http import Client, data
from tests.pages.pages import Visitor
from tests.pages.test_apply_page import TYPED, list_applications, open_form
from tests.pages.test_apply_page import owner as owner
from tests.races import run_concurrently
from tests.retention.test_guests import erase
from tests.teams.test_hidden_fields import add_member

PICTURES = "/apply/pictures"


def make_picture(kind: str = "JPEG") -> bytes:
    """A picture with the name of a camera in its metadata."""
    buffer, exif = BytesIO(), Image.Exif()
    exif[0x010F] = "Canary Camera"
    Image.new("RGB", (40, 40), "#A84C1B").save(buffer, kind, exif=exif)
    return buffer.getvalue()


def send_pictures(visitor: Visitor, *contents: bytes) -> TestResponse:
    """The bare answer to the form for pictures."""
    form = next(number for number, form in enumerate(visitor.forms) if form.action == PICTURES)
    return visitor.press(form=form, pictures=[(BytesIO(each), f"me at home {each[:1]!r}.jpg") for each in contents])


def list_pictures(owner: Client) -> list[dict[str, Any]]:
    (row,) = list_applications(owner)
    return list(row["pictures"])


def read_picture(reader: Client, picture: dict[str, Any]) -> TestResponse:
    return reader.get(picture["url"].removeprefix("http://localhost:8000"))


@pytest.fixture
def before(app: Flask) -> set[str]:
    return list_files(app)


@pytest.fixture
def applicant(owner: Client, visitor: Visitor, before: set[str]) -> Visitor:
    """A visitor on the page after they sent an application."""
    open_form(owner, visitor)
    page = visitor.send(**TYPED)
    assert page.status_code == 200 and "Pictures of your stall (optional)" in page.text
    return visitor


def test_deciders_see_the_pictures(app: Flask, client: Client, owner: Client, applicant: Visitor) -> None:
    assert list_pictures(owner) == []
    answer = send_pictures(applicant, *(make_picture(kind) for kind in ("JPEG", "PNG", "WEBP", "JPEG")))
    assert (answer.status_code, answer.headers["Location"]) == (303, "/apply/sent")
    page = applicant.open("/apply/sent").text
    assert "We have your pictures." in page and "We have 4 pictures of your stall." in page
    pictures = list_pictures(owner)
    assert [each["contentType"] for each in pictures] == ["image/jpeg", "image/png", "image/webp", "image/jpeg"]
    assert set(pictures[0]) == {"url", "contentType", "bytes"}
    for picture in pictures:
        answer = read_picture(client, picture)
        assert (answer.status_code, answer.mimetype) == (200, picture["contentType"])
        assert len(answer.data) == picture["bytes"] and b"Canary" not in answer.data
        assert "home" not in answer.headers["Content-Disposition"]


def test_pictures_are_no_documents(owner: Client, applicant: Visitor) -> None:
    send_pictures(applicant, make_picture())
    (application,) = list_applications(owner)
    assert application["documents"] == [] and [each["code"] for each in application["requirements"]] == [
        "DECISION_PENDING"
    ]
    row = decide_application(owner, application, documentsRequired=["identity"])
    assert [each["kind"] for each in row["documents"]] == ["identity"] and len(row["pictures"]) == 1
    assert [each["kind"] for each in row["requirements"] if "kind" in each] == ["identity"]


def test_pictures_are_replaced(app: Flask, client: Client, owner: Client, applicant: Visitor, before: set[str]) -> None:
    send_pictures(applicant, make_picture(), make_picture("PNG"))
    earlier = list_pictures(owner)
    applicant.open("/apply/sent")
    assert send_pictures(applicant, make_picture("WEBP")).status_code == 303
    assert [each["contentType"] for each in list_pictures(owner)] == ["image/webp"]
    assert [read_picture(client, each).status_code for each in earlier] == [404, 404]
    run_jobs()
    assert len(list_files(app) - before) == 1


@pytest.mark.parametrize(
    ("contents", "status", "sentence"),
    [
        ([], 422, "Choose at least one picture."),
        ([b"<svg/>"], 422, "A file is no JPEG, PNG or WebP picture."),
        ([make_picture(), b"%PDF-1.7"], 422, "me at home b&#39;%&#39;.jpg: A file is no JPEG, PNG or WebP picture."),
        ([b"%PDF-1.7", make_picture()[:-200]], 422, "A picture is damaged."),
        ([make_picture()[:-200]], 422, "A picture is damaged."),
        ([make_picture(), b"\xff\xd8\xff" + bytes(images.MAX_BYTES)], 422, "A picture is larger than 5 MB."),
        ([make_picture()] * 5, 422, "Choose four pictures at most."),
    ],
)
def test_wrong_files_store_nothing(
    app: Flask,
    owner: Client,
    applicant: Visitor,
    before: set[str],
    contents: list[bytes],
    status: int,
    sentence: str,
) -> None:
    send_pictures(applicant, make_picture("WEBP"))
    answer = send_pictures(applicant, *contents)
    assert answer.status_code == status and sentence in answer.text and 'name="pictures"' in answer.text
    assert [each["contentType"] for each in list_pictures(owner)] == ["image/webp"]
    assert len(list_files(app) - before) == 1


def test_too_much_at_once_leads_to_the_form(applicant: Visitor) -> None:
    form = next(form for form in applicant.forms if form.action == PICTURES)
    body = bytes(apply_pictures.MAX_UPLOAD_BYTES + 1)
    answer = applicant.flask.post(PICTURES, data={**form.fields, "pictures": (BytesIO(body), "a.jpg")})
    assert answer.status_code == 303 and answer.headers["Location"].startswith(f"{PICTURES}?tooLarge=")
    page = applicant.open(answer.headers["Location"])
    assert page.status_code == 413 and "takes at most 21 MB at once" in page.text and 'name="pictures"' in page.text


def test_after_the_decision_there_is_no_form(owner: Client, applicant: Visitor) -> None:
    decide_application(owner, list_applications(owner)[0], "declined")
    answer = send_pictures(applicant, make_picture())
    assert answer.status_code == 409 and "decided in the meantime" in answer.text
    assert list_pictures(owner) == [] and 'name="pictures"' not in answer.text
    assert 'name="pictures"' not in applicant.open("/apply/sent").text


def test_decision_during_the_upload_keeps_the_pictures_out(
    app: Flask, owner: Client, applicant: Visitor, before: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    put = storage.put

    def put_and_decide(name: str, content: bytes, *, content_type: str) -> None:
        put(name, content, content_type=content_type)
        with transaction() as session:
            session.execute(text("UPDATE merchant_application SET status = 'declined'"))

    monkeypatch.setattr(storage, "put", put_and_decide)
    assert send_pictures(applicant, make_picture(), make_picture()).status_code == 409
    assert list_pictures(owner) == [] and list_files(app) == before


def test_other_browsers_and_forged_forms_are_turned_away(app: Flask, owner: Client, applicant: Visitor) -> None:
    stranger = Visitor(app.test_client())
    assert stranger.open("/apply/sent").status_code == stranger.open(PICTURES).status_code == 303
    stranger.open(f"/apply/{list_applications(owner)[0]['eventId']}")
    token = stranger.forms[0].fields["csrf_token"]
    body = {"pictures": (BytesIO(make_picture()), "a.jpg")}
    answer = stranger.flask.post(PICTURES, data={**body, "csrf_token": token})
    assert (answer.status_code, answer.headers["Location"]) == (303, "/")
    forged = applicant.flask.post(PICTURES, data={"pictures": (BytesIO(make_picture()), "a.jpg")})
    assert forged.status_code >= 400 and list_pictures(owner) == []


def test_too_many_requests_are_refused(owner: Client, applicant: Visitor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apply_pictures, "UPLOAD_LIMIT", Limit(1))
    assert send_pictures(applicant, make_picture()).status_code == 303
    answer = send_pictures(applicant, make_picture("PNG"))
    assert answer.status_code == 429 and "You tried too often" in answer.text
    assert [each["contentType"] for each in list_pictures(owner)] == ["image/jpeg"]


def test_only_deciders_see_pictures(client: Client, owner: Client, applicant: Visitor) -> None:
    send_pictures(applicant, make_picture())
    (row,) = list_applications(owner)
    for role in ("viewer", "finance"):
        member = add_member(owner, client, role)
        assert "pictures" not in data(member.get(f"{LIST}/{row['id']}"))
    assert create_organiser_client(client).get(f"{LIST}/{row['id']}").status_code == 404
    support = create_signed_in_client(client, create_account("admin", admin_tier="support"))
    assert len(data(support.get(f"{LIST}/{row['id']}"))["pictures"]) == 1
    merchant = create_merchant_account()
    with transaction() as session:
        session.execute(text("UPDATE merchant_application SET account_id = :id"), {"id": merchant.id})
    assert "pictures" not in data(create_signed_in_client(client, merchant).get(f"{LIST}/{row['id']}"))


def test_pictures_are_erased_with_the_application(
    app: Flask, client: Client, owner: Client, applicant: Visitor, before: set[str]
) -> None:
    send_pictures(applicant, make_picture(), make_picture("PNG"))
    (application,) = list_applications(owner)
    decide_application(owner, application, "declined")
    pictures = list_pictures(owner)
    with transaction() as session:
        session.execute(text("UPDATE merchant_application SET updated_at = now() - interval '91 days'"))
    erase()
    assert list_pictures(owner) == [] and list_files(app) == before
    assert [read_picture(client, each).status_code for each in pictures] == [404, 404]


def send_eight_at_once(app: Flask, applicant: Visitor) -> Counter[int]:
    """The statuses of four pictures each, sent eight times by the same browser."""
    form = next(form for form in applicant.forms if form.action == PICTURES)
    cookie = applicant.flask.get_cookie("console")
    assert cookie is not None
    picture = make_picture()

    def send(_: int) -> int:
        flask = app.test_client()
        flask.set_cookie("console", cookie.value)
        files = [(BytesIO(picture), "a.jpg") for _ in range(4)]
        return flask.post(PICTURES, data={**form.fields, "pictures": files}).status_code

    return Counter(run_concurrently(8, send))


@pytest.fixture
def quick_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pictures that need no time, so that all requests come to the database together."""
    monkeypatch.setattr(images, "reencode_image", lambda data: ReencodedImage(data, "jpg", 40, 40))


@pytest.mark.usefixtures("quick_pictures")
def test_eight_at_once_store_four_pictures(app: Flask, owner: Client, applicant: Visitor, before: set[str]) -> None:
    statuses = send_eight_at_once(app, applicant)
    assert set(statuses) <= {303, 503} and statuses[303]
    assert len(list_pictures(owner)) == 4
    run_jobs()
    assert len(list_files(app) - before) == 4


@pytest.mark.control
@pytest.mark.usefixtures("quick_pictures")
def test_without_the_lock_files_stay_that_no_row_names(
    app: Flask, owner: Client, applicant: Visitor, before: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    get, erase_documents, barrier = OrmSession.get, picture_upload.erase_documents, Barrier(8)

    def get_unlocked(session: OrmSession, *arguments: Any, with_for_update: bool = False, **options: Any) -> Any:
        return get(session, *arguments, **options)

    def erase_and_wait(*arguments: Any) -> None:
        erase_documents(*arguments)
        barrier.wait(timeout=90)

    monkeypatch.setattr(OrmSession, "get", get_unlocked)
    monkeypatch.setattr(picture_upload, "erase_documents", erase_and_wait)
    send_eight_at_once(app, applicant)
    run_jobs()
    assert len(list_pictures(owner)) == 4 and len(list_files(app) - before) > 4
