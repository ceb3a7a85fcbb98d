"""The API documentation: Swagger UI, served from its Python package."""

from importlib.resources import files

from flask import Blueprint, Response, make_response, render_template, send_from_directory

from app.core.errors import NotFound

blueprint = Blueprint("docs", __name__)

ASSETS = frozenset({"swagger-ui.css", "swagger-ui-bundle.js", "favicon-32x32.png"})
ASSET_SECONDS = 24 * 60 * 60
# Swagger UI styles itself through style attributes; scripts stay restricted to files.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_FOLDER = str(files("flask_swagger_ui") / "dist")


@blueprint.get("/docs")
def docs() -> Response:
    """The documentation page. Without JavaScript it links to the OpenAPI document."""
    response = make_response(render_template("pages/docs.html"))
    response.headers["Content-Security-Policy"] = POLICY
    return response


@blueprint.get("/docs/assets/<name>")
def asset(name: str) -> Response:
    """One of the files in ASSETS. Raises NotFound for any other name."""
    if name not in ASSETS:
        raise NotFound()
    return send_from_directory(_FOLDER, name, max_age=ASSET_SECONDS)
