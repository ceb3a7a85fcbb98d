"""The documentation of the API: a quick start, the operations by subject, and the errors."""

from flask import Response, current_app

from app.blueprints.pages.api_reference import load_groups
from app.blueprints.pages.rendering import Pages, render_page
from app.core.errors import AppError, NotFound

blueprint = Pages("docs", __name__, url_prefix="/docs")


@blueprint.get("")
def start() -> Response:
    """Show a quick start, the conventions, and the subjects with their operations."""
    base_url = current_app.extensions["settings"].PUBLIC_BASE_URL
    return render_page("pages/docs.html", groups=load_groups().values(), base_url=base_url)


@blueprint.get("/operations/<tag>")
def show_group(tag: str) -> Response:
    """Show the operations of a subject. Raises NotFound for an unknown one."""
    groups = load_groups()
    if tag not in groups:
        raise NotFound()
    return render_page("pages/docs_operations.html", group=groups[tag])


@blueprint.get("/errors")
def list_errors() -> Response:
    """Show every error with its code and message."""
    errors = sorted(AppError.catalogue.values(), key=lambda error: error.number)
    return render_page("pages/docs_errors.html", errors=errors)
