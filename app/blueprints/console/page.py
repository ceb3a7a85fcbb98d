"""A page for people: our own stylesheet, no script, never kept by anyone on the way."""

from typing import Any

from flask import Response, make_response, render_template, request

from app.core.errors import AppError
from app.web.envelope import request_id

POLICY = (
    "default-src 'none'; style-src 'self'; img-src 'self' data:; frame-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)


def page(template: str, **context: Any) -> Response:
    """The template as an answer; `status=` is its HTTP status, and known to the template as well."""
    response = make_response(render_template(template, **context), context.get("status", 200))
    response.headers["Content-Security-Policy"] = POLICY
    response.headers["Cache-Control"] = "no-store"
    return response


def error_page(error: AppError) -> Response:
    """What went wrong, what it means, and what to quote."""
    response = page(
        "console/error.html",
        status=error.status, code=error.code, message=error.text, request_id=request_id(),
        contact=error.data.get("contact"),
    )
    response.headers.extend(error.headers)
    return response


def errors_as_pages() -> None:
    """For `before_request` of a blueprint of pages: errors are shown to people, not told to programs."""
    request.environ["event_commerce.error_page"] = error_page
