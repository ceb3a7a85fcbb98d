"""What the script of the gate needs: the page without anything of a phone, the phone's token, and two workers.

The service worker keeps the page and its files, so that they open without a network. Each worker has a policy of its own.
"""

import hashlib
from pathlib import Path

import orjson
from flask import Response, make_response, request

from app.blueprints.pages.gate_device import find_gate_caller, get_event_id, render_gate_page
from app.blueprints.pages.rendering import Pages, render_page
from app.core.errors import Forbidden
from app.events import queries as event_queries
from app.web.cookies import read_device_token_cookie
from app.web.envelope import build_envelope, json_response
from app.web.errors import SessionEnded

blueprint = Pages("gate_scripts", __name__, url_prefix="/gate", translated=True)
WORKER_POLICY = "default-src 'none'; connect-src 'self'; frame-ancestors 'none'"
DECODER_POLICY = f"{WORKER_POLICY}; script-src 'self' 'wasm-unsafe-eval'"
"""The decoder alone may compile WebAssembly; a worker has the policy of its own script."""
STATIC_FOLDER = Path(__file__).parents[2] / "static"
DECODER = STATIC_FOLDER / "gate" / "decoder.js"
SERVICE_WORKER = STATIC_FOLDER / "gate" / "service_worker.js"


class NotThisSite(Forbidden):
    number, code = 40350, "NOT_THIS_SITE"
    message = "Only the page of the gate may ask for the token of its phone."


@blueprint.get("/shell")
def show_shell() -> Response:
    """Return the page as the service worker keeps it: without a form, and without anything about the phone."""
    return render_gate_page("pages/gate.html")


@blueprint.get("/session")
def get_session() -> Response:
    """Return the token of this phone, its name and its event to the script of this site. Raises SessionEnded."""
    if request.headers.get("Sec-Fetch-Site") != "same-origin":
        raise NotThisSite()
    caller = find_gate_caller()
    if caller is None:
        raise SessionEnded()
    event = event_queries.get_event(caller, get_event_id(caller))
    data = {
        "token": read_device_token_cookie(),
        "device": {"id": caller.session_id, "name": caller.name},
        "event": {"id": event.id, "name": event.name},
    }
    return json_response(build_envelope(data))


@blueprint.get("/service-worker.js")
def get_service_worker() -> Response:
    """Return the service worker, with the files that it keeps and their version."""
    files = {path: (STATIC_FOLDER / path).read_bytes() for path in _list_static_files()}
    shell = render_page("pages/gate.html").get_data()
    digest = hashlib.sha256(b"\0".join((shell, DECODER.read_bytes(), *files.values()))).hexdigest()
    paths = ["/gate/decoder.js", *(f"/static/{path}" for path in files)]
    value = orjson.dumps({"version": f"gate-{digest[:16]}", "files": paths}).decode()
    response = _build_script_response(f"self.GATE_FILES = {value};\n{SERVICE_WORKER.read_text()}", WORKER_POLICY)
    response.headers["Service-Worker-Allowed"] = "/gate"
    return response


@blueprint.get("/decoder.js")
def get_decoder() -> Response:
    """Return the worker that reads codes in pictures."""
    return _build_script_response(DECODER.read_text(), DECODER_POLICY)


def _list_static_files() -> list[str]:
    own = [path for path in (STATIC_FOLDER / "gate").iterdir() if path not in (DECODER, SERVICE_WORKER)]
    vendored = [path for path in (STATIC_FOLDER / "vendor" / "zxing-wasm").rglob("*.*") if path.is_file()]
    return sorted(str(path.relative_to(STATIC_FOLDER)) for path in [STATIC_FOLDER / "pages.css", *own, *vendored])


def _build_script_response(text: str, policy: str) -> Response:
    response = make_response(text)
    response.headers["Content-Type"] = "text/javascript; charset=utf-8"
    response.headers["Content-Security-Policy"] = policy
    response.headers["Cache-Control"] = "no-cache"
    return response
