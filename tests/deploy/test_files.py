"""Pictures, stylesheets and uploads: what nginx serves itself, how much it takes, and what nobody sees."""

import io
import secrets

import pytest
from flask import Flask
from PIL import Image

from app import MAX_BODY
from app.blueprints.applications.fee_routes import MAX_STATEMENT_BYTES
from app.blueprints.inventory.file_transfer import MAX_UPLOAD as SHEETS
from app.blueprints.media import PICTURE_HEADERS
from app.blueprints.pages.apply_pictures import MAX_UPLOAD_BYTES as PICTURES_OF_STALLS
from app.blueprints.pages.desk.sales import MAX_UPLOAD_BYTES as SALES
from app.blueprints.pages.documents import MAX_UPLOAD_BYTES as DOCUMENTS_OF_PEOPLE
from app.media.actions import MAX_PICTURE_FORM_BYTES as FORMS
from app.media.actions import MAX_UPLOAD_BYTES as PICTURES
from tests.deploy.proxy import Proxy
from tests.deploy.test_answers import told
from tests.deploy.upstreams import Mirrors
from tests.factories.events import create_organiser_client
from tests.http import Client

EVENT = "6740f1c2a1b2c3d4e5f60718"
ROUTES = [
    ("/api/events", MAX_BODY),
    ("/claim/x", MAX_BODY),
    ("/api/events/upload-cover", PICTURES),
    (f"/api/events/{EVENT}/notifications/upload-image", PICTURES),
    (f"/api/events/{EVENT}/inventory/import", SHEETS),
    (f"/api/events/{EVENT}/tickets/import", SHEETS),
    (f"/api/events/{EVENT}/stall-fees/statement", MAX_STATEMENT_BYTES),
    ("/api/organisations/me/money/statement", MAX_STATEMENT_BYTES),
    ("/desk/money/statement", MAX_STATEMENT_BYTES),
    (f"/desk/events/{EVENT}/stalls/statement", MAX_STATEMENT_BYTES),
    ("/api/merchant-applications/docs/x", DOCUMENTS_OF_PEOPLE),
    ("/documents/x", DOCUMENTS_OF_PEOPLE),
    ("/apply/pictures", PICTURES_OF_STALLS),
    ("/desk/settings", FORMS),
    (f"/desk/events/{EVENT}/cover", PICTURES),
    (f"/desk/events/{EVENT}/messages/new", FORMS),
    (f"/desk/events/{EVENT}/lists/sponsors", FORMS),
    (f"/desk/events/{EVENT}/messages/{EVENT}/edit", FORMS),
    (f"/desk/events/{EVENT}/sales/import", SALES),
    (f"/desk/events/{EVENT}/stock/import", SHEETS),
]
PAGES_WITH_UPLOADS = (
    "/documents/x",
    "/apply/pictures",
    "/desk/settings",
    "/desk/money/statement",
    f"/desk/events/{EVENT}/stalls/statement",
    f"/desk/events/{EVENT}/cover",
    f"/desk/events/{EVENT}/sales/import",
    f"/desk/events/{EVENT}/stock/import",
    f"/desk/events/{EVENT}/messages/new",
    f"/desk/events/{EVENT}/lists/sponsors",
    f"/desk/events/{EVENT}/messages/{EVENT}/edit",
)


@pytest.mark.parametrize(("path", "most"), ROUTES)
def test_a_body_is_as_large_as_the_program_takes_it(mirrored: tuple[Proxy, Mirrors], path: str, most: int) -> None:
    site, server = mirrored
    assert site.ask(path, "POST", bytes(most)).json["bytes"] == most
    server.seen.clear()
    answer = site.ask(path, "POST", b"", Content_Length=str(most + 1))
    assert server.seen == []
    if path in PAGES_WITH_UPLOADS:
        assert answer.status == 303 and answer.headers["location"].endswith(f"{path}?tooLarge={most + 1}")
        return
    assert answer.status == 413
    if path.startswith("/api/"):
        told(answer, 413, "PAYLOAD_TOO_LARGE")


def test_every_upload_has_a_limit_here(app: Flask, client: Client) -> None:
    """A new upload that nobody entered in the site's file would end at a megabyte."""
    paths = client.get("/openapi.json").get_json()["paths"]
    uploads = {
        path for path, item in paths.items() if "multipart/form-data" in str(item.get("post", {}).get("requestBody"))
    }
    assert uploads == {
        "/api/events/upload-cover",
        "/api/events/{id}/notifications/upload-image",
        "/api/events/{eventId}/inventory/import",
        "/api/events/{eventId}/stall-fees/statement",
        "/api/events/{eventId}/tickets/import",
        "/api/merchant-applications/docs/{token}",
        "/api/organisations/me/money/statement",
    }
    large = {name for name, it in app.blueprints.items() if getattr(it, "max_bytes", 0) > MAX_BODY}
    assert large == {
        "documents",
        "apply_pictures",
        "desk_event_cover",
        "desk_event_lists",
        "desk_messages",
        "desk_organisation_money",
        "desk_sales",
        "desk_settings",
        "desk_stalls",
        "desk_stock",
    }


def picture() -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (8, 8), tuple(secrets.token_bytes(3))).save(out, "PNG")
    return out.getvalue()


def uploaded(site: Proxy, client: Client) -> str:
    """The path of a picture that was sent through the proxy."""
    body = (
        b'--B\r\nContent-Disposition: form-data; name="file"; filename="a.png"\r\n\r\n' + picture() + b"\r\n--B--\r\n"
    )
    headers = {**create_organiser_client(client).headers, "Content_Type": "multipart/form-data; boundary=B"}
    answer = site.ask("/api/events/upload-cover", "POST", body, **headers)
    assert answer.status in (200, 201), answer.body
    path: str = "/media/" + answer.json["data"]["url"].partition("/media/")[2]
    return path


def test_a_picture_comes_from_the_disk_with_the_headers_of_the_program(site: Proxy, client: Client) -> None:
    path = uploaded(site, client)
    answer = site.ask(path)
    assert (answer.status, answer.headers["content-type"]) == (200, "image/png")
    assert {name: answer.headers[name.lower()] for name in PICTURE_HEADERS} == PICTURE_HEADERS
    assert answer.headers["x-request-id"] == site.written[-1]["request_id"] and site.written[-1]["upstream"] == ""
    again = site.ask(path, If_None_Match=answer.headers["etag"])
    assert (again.status, again.body) == (304, b"")


def test_a_picture_that_is_not_on_the_disk_comes_through_the_program_once(mirrored: tuple[Proxy, Mirrors]) -> None:
    site, server = mirrored
    server.seen.clear()
    path = f"/media/{secrets.token_hex(16)}.png"
    first, second = site.ask(path), site.ask(path)
    assert (first.status, second.status, first.body) == (200, 200, second.body)
    assert server.seen == [("GET", path)]
    ids = [item.headers["x-request-id"] for item in (first, second)]
    assert ids == [item["request_id"] for item in site.written[-2:]] and len(set(ids)) == 2


@pytest.mark.parametrize("name", ["documents/secret.pdf", "reports/secret.csv", "media/secret.pdf", "secret"])
def test_nothing_else_of_the_storage_is_seen(mirrored: tuple[Proxy, Mirrors], name: str) -> None:
    site, server = mirrored
    private = site.storage / name
    private.parent.mkdir(parents=True, exist_ok=True)
    private.write_text("only for the organiser")
    asked = [
        name,
        f"media/../{name}",
        f"media/%2e%2e/{name}",
        f"media//{name}",
        f"media/{'0' * 32}.png/../../{name}",
        f"media/..%2f{name}",
        f"static/../../../storage/{name}",
        f"storage/{name}",
        f"static/..%2f..%2f{name}",
        f"-/{name}",
        f"-/../../{name}",
    ]
    for path in asked:
        assert b"only for" not in site.ask("/" + path).body, path


def test_the_pages_of_errors_are_no_addresses(mirrored: tuple[Proxy, Mirrors]) -> None:
    assert [mirrored[0].ask(path).status for path in ("/-/error.json", "/-/error.html")] == [404, 404]


def test_data_is_compressed_and_pages_are_not(mirrored: tuple[Proxy, Mirrors]) -> None:
    site, _ = mirrored
    long = {"Accept_Encoding": "gzip", "X_Long": "a" * 3000}
    assert site.ask("/api/x", **long).headers["content-encoding"] == "gzip"
    assert "content-encoding" not in site.ask("/claim/x", **long).headers
    assert site.ask("/static/pages.css", **long).headers["content-encoding"] == "gzip"
    decoder = site.ask("/static/vendor/zxing-wasm/reader/zxing_reader.wasm", **long).headers
    assert (decoder["content-type"], decoder["content-encoding"]) == ("application/wasm", "gzip")
