"""The clients that `make clients` writes, at work against the running application."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from flask import Flask
from werkzeug.serving import make_server

from tests.factories.accounts import PASSWORD, find_newest_code
from tests.house.sources import ROOT
from tests.security.requests import build_picture

HERE = Path(__file__).parent
EMAIL = "ndapewa@example.com"
EVENT = {
    "name": "River Nights",
    "venue": "River grounds",
    "city": "Windhoek",
    "country": "NA",
    "startDate": "2031-06-04T18:00:00",
    "endDate": "2031-06-05T02:00:00",
    "visibility": "published",
    "ticketTypes": [{"name": "Weekend", "priceMinor": 85000, "quantity": 10}],
}


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("clients")
    made = subprocess.run(
        ["make", "-s", "clients", f"DIST={folder}"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert made.returncode == 0, made.stdout + made.stderr
    assert "WARNING" not in made.stdout + made.stderr, "the generator left operations out"
    return folder


@pytest.fixture
def base(app: Flask) -> Iterator[str]:
    """The application on a port of its own."""
    server = make_server("localhost", 0, app, threaded=True)
    thread = Thread(target=server.serve_forever)
    thread.start()
    yield f"http://localhost:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def organiser(app: Flask) -> str:
    """The email of an organiser with a verified account."""
    body = {"email": EMAIL, "password": PASSWORD, "name": "Ndapewa Iita", "orgName": "Etosha Nights"}
    client = app.test_client()
    assert client.post("/api/auth/register/organiser", json=body).status_code == 201
    assert (
        client.post("/api/auth/verify-email", json={"email": EMAIL, "code": find_newest_code(EMAIL)}).status_code == 200
    )
    return EMAIL


def test_every_operation_is_in_every_client(generated: Path) -> None:
    document = json.loads((generated / "openapi.json").read_text())
    verbs = {"get", "post", "put", "patch", "delete"}
    operations = sum(verb in verbs for path in document["paths"].values() for verb in path)
    api = generated / "python" / "event_commerce_client" / "api"
    assert len([path for path in api.glob("*/*.py") if path.name != "__init__.py"]) == operations
    types = (generated / "typescript" / "event-commerce.d.ts").read_text()
    assert all(f'    "{path}": {{' in types for path in document["paths"])
    collection = json.loads((generated / "postman.json").read_text())
    assert len(list(_requests(collection))) == operations


def _requests(folder: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for item in folder.get("item", []):
        if "request" in item:
            yield item
        else:
            yield from _requests(item)


def test_the_typescript_client_from_sign_in_to_stream(
    base: str, organiser: str, generated: Path, tmp_path: Path
) -> None:
    shutil.copy(HERE / "tour.mts", tmp_path)
    (tmp_path / "cover.jpg").write_bytes(build_picture().getvalue())
    shutil.copy(generated / "typescript" / "event-commerce.d.ts", tmp_path)
    (tmp_path / "node_modules").symlink_to(ROOT / "clients" / "node_modules")
    compiler = ROOT / "clients" / "node_modules" / ".bin" / "tsc"
    options = ["--strict", "--module", "nodenext", "--moduleResolution", "nodenext", "--target", "es2022"]
    checked = subprocess.run(
        [compiler, *options, "--skipLibCheck", "tour.mts"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert checked.returncode == 0, checked.stdout
    environ = {"PATH": os.environ["PATH"], "BASE": base, "EMAIL": organiser, "PASSWORD": PASSWORD}
    tour = subprocess.run(
        ["node", "tour.mjs"], cwd=tmp_path, env=environ, capture_output=True, text=True, check=False, timeout=60
    )
    assert (tour.returncode, tour.stdout) == (0, "done\n"), tour.stderr


@pytest.fixture
def package(generated: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.syspath_prepend(generated / "python")
    import event_commerce_client

    yield event_commerce_client
    for name in [module for module in sys.modules if module.startswith("event_commerce_client")]:
        del sys.modules[name]


def test_the_python_client_from_sign_in_to_stream(base: str, organiser: str, package: Any) -> None:
    from event_commerce_client import types
    from event_commerce_client.api.accounts import login
    from event_commerce_client.api.events import change_event, create_event, read_event, upload_cover
    from event_commerce_client.api.inventory import export_stock, stream_stock
    from event_commerce_client.api.public_events import discover
    from event_commerce_client.models import EventChanges, LoginBody, NewEvent, PictureFile

    visitor = package.Client(base)
    refused = login.sync(client=visitor, body=LoginBody(email="no-address", password=""))
    assert refused.short_message == "VALIDATION_FAILED"
    assert [error["path"] for error in refused.data["errors"]] == ["email", "password"]

    signed_in = login.sync(client=visitor, body=LoginBody(email=organiser, password=PASSWORD))
    client = package.AuthenticatedClient(base, token=signed_in.data.access_token)
    cover = upload_cover.sync(
        client=client, body=PictureFile(file=types.File(build_picture(), "cover.jpg", "image/jpeg"))
    )
    for name in ("River Nights", "River Days", "River Mornings"):
        made: Any = create_event.sync(
            client=client, body=NewEvent.from_dict({**EVENT, "name": name, "coverImageUrl": cover.data.url})
        )
    names, cursor = [], types.UNSET
    while cursor is not None:
        page = discover.sync(client=visitor, limit=2, cursor=cursor).data
        names += [event.name for event in page.events]
        cursor = page.pagination.next_cursor
    assert sorted(names) == ["River Days", "River Mornings", "River Nights"]

    etag = read_event.sync_detailed(made.data.id, client=client).headers["ETag"]
    body = EventChanges.from_dict({"venue": "Old brewery"})
    changed = change_event.sync(made.data.id, client=client, body=body, if_match=etag)
    assert changed.data.venue == "Old brewery"
    assert change_event.sync_detailed(made.data.id, client=client, body=body, if_match=etag).status_code == 412
    assert export_stock.sync_detailed(made.data.id, client=client).content.startswith(b"\xef\xbb\xbf")

    request = stream_stock._get_kwargs(made.data.id)
    with client.get_httpx_client().stream(**request) as response:
        assert response.headers["Content-Type"].startswith("text/event-stream")
        assert next(response.iter_text())
