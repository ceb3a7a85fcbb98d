"""Covers: uploaded by organisers, encoded again, and served to the public with safe headers."""

import io

import pytest
from PIL import Image
from werkzeug.test import TestResponse

from app.core import images
from tests.core.test_images import picture, png_claiming, svg, truncated
from tests.factories.accounts import create_account, create_signed_in_client
from tests.factories.events import create_organiser_client, create_published_event
from tests.http import Client, data, list_problems, read_error

PATH = "/api/events/upload-cover"


def upload(client: Client, content: bytes, name: str = "cover.jpg") -> TestResponse:
    form = {"file": (io.BytesIO(content), name)}
    return client.post(PATH, data=form, content_type="multipart/form-data")


def test_cover_is_stored_and_served(client: Client) -> None:
    owner = create_organiser_client(client)
    made = data(upload(owner, picture()), 201)
    assert (made["width"], made["height"]) == (60, 40)
    served = client.get(made["url"].removeprefix("http://localhost:8000"))
    assert served.status_code == 200 and served.content_type == "image/jpeg"
    assert len(served.data) == made["bytes"] and Image.open(io.BytesIO(served.data)).size == (60, 40)
    assert served.headers["Cache-Control"] == "public, max-age=31536000, immutable"
    assert served.headers["X-Content-Type-Options"] == "nosniff"
    assert "sandbox" in served.headers["Content-Security-Policy"]
    again = client.with_(If_None_Match=served.headers["ETag"]).get(made["url"].removeprefix("http://localhost:8000"))
    assert again.status_code == 304 and again.data == b""


def test_uploaded_url_can_be_the_cover_of_an_event(client: Client) -> None:
    owner = create_organiser_client(client)
    url = data(upload(owner, picture("PNG"), "cover.png"), 201)["url"]
    made = create_published_event(owner, coverImageUrl=url)
    assert data(client.get("/api/events/public/discover"))["events"][0]["coverImageUrl"] == url
    assert made["coverImageUrl"] == url


def test_same_picture_gets_the_same_url(client: Client) -> None:
    owner = create_organiser_client(client)
    assert data(upload(owner, picture()), 201)["url"] == data(upload(owner, picture()), 201)["url"]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (svg(), (415, "IMAGE_KIND_UNSUPPORTED")),
        (truncated(), (422, "IMAGE_UNREADABLE")),
        (png_claiming(8200, 5000), (422, "IMAGE_TOO_MANY_PIXELS")),
        (b"\xff\xd8" + bytes(5 * 1024 * 1024), (413, "IMAGE_TOO_LARGE")),
        (b"\xff\xd8" + bytes(6 * 1024 * 1024), (413, "PAYLOAD_TOO_LARGE")),
        (b"", (415, "IMAGE_KIND_UNSUPPORTED")),
    ],
)
def test_bad_pictures_are_refused(client: Client, content: bytes, expected: tuple[int, str]) -> None:
    assert read_error(upload(create_organiser_client(client), content, "cover.png")) == expected


def test_missing_file_and_text_are_problems_of_the_field(client: Client) -> None:
    owner = create_organiser_client(client)
    assert list_problems(owner.post(PATH, data={"x": "y"}, content_type="multipart/form-data"))["file"] == "required"
    assert (
        list_problems(owner.post(PATH, data={"file": "y"}, content_type="multipart/form-data"))["file"]
        == "invalid_type"
    )
    assert read_error(owner.post(PATH, {"file": "y"})) == (415, "UNSUPPORTED_MEDIA_TYPE")


def test_only_organisers_and_admins_may_upload(client: Client) -> None:
    assert read_error(upload(client, picture())) == (401, "TOKEN_MISSING")
    assert read_error(upload(create_signed_in_client(client, create_account("customer")), picture())) == (
        403,
        "ROLE_NOT_ALLOWED",
    )


def test_upload_limit_is_fifty_a_day(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """Refused uploads count too. The subprocess that checks pictures is replaced."""

    def refuse(_: bytes, crop: object = None) -> None:
        raise images.ImageKindUnsupported

    monkeypatch.setattr(images, "reencode_image", refuse)
    owner = create_organiser_client(client)
    found = [upload(owner, b"no picture").status_code for _ in range(52)]
    assert found[:50] == [415] * 50 and found[50:] == [429] * 2


@pytest.mark.parametrize(
    "name",
    ["0" * 32 + ".jpg", "0" * 32 + ".svg", "..%2f..%2fetc%2fpasswd", "x.png", "0" * 32 + ".jpg.html", "%00.png"],
)
def test_other_files_are_not_served(client: Client, name: str) -> None:
    assert client.get(f"/media/{name}").status_code == 404
