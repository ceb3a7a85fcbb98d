"""The generated clients: fresh, complete, and one of them at work against the live service."""

import ast
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from flask import Flask
from werkzeug.serving import make_server

from app.core.errors import AppError
from clients.generate import files
from clients.generate.contract import Contract
from tests.factories.accounts import PASSWORD, find_newest_code
from tests.security.requests import picture

TS = files.FOLDER / "typescript" / "event-commerce.ts"


@pytest.fixture(scope="module")
def contract(application: Flask) -> Contract:
    """Without the errors of tests, which stand in the same catalogue once their modules are loaded."""
    document = application.test_client().get("/openapi.json").get_json()
    examples = document["components"]["examples"]
    ours = {code for code, it in AppError.catalogue.items() if it.__module__.startswith("app.")}
    document["components"]["examples"] = {code: it for code, it in examples.items() if code in ours}
    return Contract(document)


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(files.FOLDER / "python")
    import event_commerce

    yield event_commerce
    for name in [module for module in sys.modules if module.startswith("event_commerce")]:
        del sys.modules[name]


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


def braced(part: str) -> str:
    return re.sub(r"^:(\w+)", r"{\1}", part)


def test_every_generated_file_is_fresh(contract: Contract) -> None:
    for path, content in files.made(contract).items():
        assert path.read_text() == content, f"{path.name} is not what the document says; run: make clients"


def test_postman_has_every_operation_once(contract: Contract) -> None:
    collection = json.loads((files.FOLDER / "postman.json").read_text())
    requests = [item["request"] for folder in collection["item"] for item in folder["item"]]
    found = [f"{it['method']} /{'/'.join(map(braced, it['url']['path']))}" for it in requests]
    assert sorted(found) == sorted(operation.title for operation in contract.operations)
    for request in requests:
        if request.get("body", {}).get("mode") == "raw":
            json.loads(request["body"]["raw"])


def test_typescript_names_every_operation_and_only_what_it_declares(contract: Contract) -> None:
    text = TS.read_text()
    declared = set(re.findall(r"^export (?:type|interface) (\w+)", text, re.M))
    code = re.sub(r'"(?:[^"\\]|\\.)*"|/\*.*?\*/|//.*', '""', text)
    used = set(re.findall(r"(?<![\w.])[A-Z]\w+", code))
    assert used - declared == {"Array", "Record", "Blob", "FormData", "Data"}
    assert all(code.count(one) == code.count(other) for one, other in ("{}", "()", "<>"))
    for operation in contract.operations:
        assert f'  "{operation.title}": {{\n' in text


def test_the_python_client_has_a_method_for_every_operation(contract: Contract) -> None:
    tree = ast.parse((files.FOLDER / "python" / "event_commerce" / "operations.py").read_text())
    (cls,) = [item for item in tree.body if isinstance(item, ast.ClassDef)]
    assert len({item.name for item in cls.body if isinstance(item, ast.FunctionDef)}) == len(contract.operations)


def test_from_signing_up_to_being_discovered(app: Flask, base: str, library: Any) -> None:
    client, email = library.Client(base), "ndapewa@example.com"
    client.register_organiser(email=email, password=PASSWORD, name="Ndapewa Iita", org_name="Etosha Nights")
    client.verify_email(email=email, code=find_newest_code(email))
    assert client.sign_in(email, PASSWORD)["user"]["roles"] == ["organiser"]
    cover = client.upload_cover(file=picture().getvalue())
    made = client.create_event(
        name="River Nights",
        start_date="2027-06-04T18:00:00",
        end_date="2027-06-05T02:00:00",
        venue="River grounds",
        city="Windhoek",
        country="NA",
        visibility="published",
        cover_image_url=cover["url"],
        ticket_types=[{"name": "Weekend", "priceMinor": 85000, "quantity": 10}],
    )
    assert [event["id"] for event in library.Client(base).discover(city="Windhoek")["events"]] == [made["id"]]
    assert client.read_event(made["id"])["name"] == "River Nights"
    assert client.export_stock(made["id"]).startswith(b"\xef\xbb\xbf")


def test_what_is_refused_is_told_with_its_code(app: Flask, base: str, library: Any) -> None:
    with pytest.raises(library.ApiError) as refused:
        library.Client(base).login(email="nobody", password="x")
    assert (refused.value.status, refused.value.code) == (422, "VALIDATION_FAILED")
    assert refused.value.data["errors"][0]["path"] == "email"
    with pytest.raises(library.ApiError, match="TOKEN_MISSING"):
        library.Client(base).me()


def test_an_access_token_that_has_run_out_is_renewed_once(app: Flask, base: str, library: Any) -> None:
    client, asked = library.Client(base), []
    client.register_customer(email="f@example.com", password=PASSWORD, first_name="F", last_name="A")
    before = client.sign_in("f@example.com", PASSWORD)["accessToken"]
    once = client._once

    def late(method: str, route: str, **sent: Any) -> Any:
        asked.append(route)
        if asked == ["/api/auth/me"]:
            raise library.ApiError(401, {"shortMessage": "TOKEN_EXPIRED"})
        return once(method, route, **sent)

    client._once = late
    assert client.me()["email"] == "f@example.com" and client.access_token != before
    assert asked == ["/api/auth/me", "/api/auth/refresh", "/api/auth/me"]


def test_the_readme_names_files_that_are_there() -> None:
    for target in re.findall(r"\]\(([\w./-]+)\)", (files.FOLDER / "README.md").read_text()):
        assert (Path(files.FOLDER) / target).exists(), target
