"""A page for people: our own stylesheet, nothing from elsewhere, never kept by anyone on the way."""

from collections.abc import Callable
from typing import Any

from flask import Blueprint, Response, make_response, render_template, request

from app.blueprints.console import csrf
from app.blueprints.console.error_messages import describe_error
from app.core.errors import AppError
from app.web.envelope import get_request_id
from app.web.error_handlers import ERROR_PAGE_KEY
from app.web.middleware import ROUTE_KEY

POLICY = (
    "default-src 'none'; style-src 'self'; img-src 'self' data:; frame-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
MAX_FORM = 64 * 1024


class Pages(Blueprint):
    """A blueprint of pages: errors are shown to people, and only our own forms, of some size, may be sent to it.

    `open_to` says of a request whether it is one that others may send as well.
    """

    def __init__(
        self,
        name: str,
        import_name: str,
        *,
        url_prefix: str | None = None,
        max_bytes: int = MAX_FORM,
        open_to: Callable[[], bool] | None = None,
    ) -> None:
        super().__init__(name, import_name, url_prefix=url_prefix)
        self.max_bytes, self.open_to = max_bytes, open_to
        for step in (_named_in_logs, errors_as_pages, self._bounded, self._ours):
            self.before_request(step)

    def _ours(self) -> None:
        if self.open_to is None or not self.open_to():
            csrf.protect()

    def _bounded(self) -> None:
        """What was typed is shown again, so it must not be without end."""
        request.max_content_length = self.max_bytes


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
        status=error.status,
        code=error.code,
        message=describe_error(error),
        request_id=get_request_id(),
        contact=error.data.get("contact"),
        again=error.data.get("again"),
    )
    response.headers.extend(error.headers)
    return response


def errors_as_pages() -> None:
    """For `before_request`: errors are shown to people, not told to programs."""
    request.environ[ERROR_PAGE_KEY] = error_page


def _named_in_logs() -> None:
    """Logs get the rule of the page, not its address: that may hold a token."""
    if request.url_rule is not None:
        request.environ[ROUTE_KEY] = request.url_rule.rule
