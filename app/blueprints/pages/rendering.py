"""HTML pages: strict content security policy, no caching, and errors as pages with messages for people."""

from collections.abc import Callable

from flask import Blueprint, Response, make_response, render_template, request
from markupsafe import Markup, escape

from app.blueprints.pages import csrf, signed_in
from app.core.errors import AppError
from app.web.envelope import get_request_id
from app.web.error_handlers import ERROR_PAGE_KEY
from app.web.middleware import ROUTE_KEY

POLICY = (
    "default-src 'none'; style-src 'self'; img-src 'self' data:; frame-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
MAX_FORM_BYTES = 64 * 1024


class Pages(Blueprint):
    """A blueprint of HTML pages: errors are pages, forms need a CSRF token, request bodies have a maximum size.

    `is_csrf_exempt` tells whether the current request needs no CSRF token. With `needs_sign_in` a visitor who is not
    signed in is sent to `/sign-in`; views get the person from `signed_in.get_signed_in_caller()`.
    """

    def __init__(
        self,
        name: str,
        import_name: str,
        *,
        url_prefix: str | None = None,
        max_bytes: int = MAX_FORM_BYTES,
        is_csrf_exempt: Callable[[], bool] | None = None,
        needs_sign_in: bool = False,
    ) -> None:
        super().__init__(name, import_name, url_prefix=url_prefix)
        self.max_bytes, self.is_csrf_exempt = max_bytes, is_csrf_exempt
        self.before_request(_log_rule_instead_of_path)
        self.before_request(render_errors_as_pages)
        self.before_request(self._limit_body_size)
        self.before_request(self._check_csrf_token)
        if needs_sign_in:
            self.before_request(signed_in.redirect_to_sign_in)

    def _check_csrf_token(self) -> None:
        if self.is_csrf_exempt is None or not self.is_csrf_exempt():
            csrf.protect()

    def _limit_body_size(self) -> None:
        """Limit the request body, because the page shows the values again."""
        request.max_content_length = self.max_bytes


def render_page(template: str, *, status: int = 200, **context: object) -> Response:
    """Return the rendered template as a response. The template can read `status` too.

    Its header has the name of the signed-in person, or a link to sign in, if the request has asked who that is.
    """
    context = {"status": status, **signed_in.get_header_context(), **context}
    response = make_response(render_template(template, **context), status)
    response.headers["Content-Security-Policy"] = POLICY
    response.headers["Cache-Control"] = "no-store"
    return response


def render_error(error: AppError) -> Response:
    """Return the page of an error: the message, its code and the request id."""
    response = render_page(
        "pages/error.html",
        status=error.status,
        code=error.code,
        message=describe_error(error),
        request_id=get_request_id(),
        contact=error.data.get("contact"),
        retry_path=error.data.get("retry_path"),
    )
    response.headers.extend(error.headers)
    return response


def render_errors_as_pages() -> None:
    """Show the errors of this request as pages instead of JSON; for `before_request`."""
    request.environ[ERROR_PAGE_KEY] = render_error


def _log_rule_instead_of_path() -> None:
    """Log the URL rule of the page instead of its path, because the path may contain a token."""
    if request.url_rule is not None:
        request.environ[ROUTE_KEY] = request.url_rule.rule


def mark_code_spans(text: str) -> Markup:
    """Return `text` as HTML with the parts between backticks as code; a template filter."""
    return Markup("").join(
        Markup("<code>{}</code>").format(part) if number % 2 else escape(part)
        for number, part in enumerate(text.split("`"))
    )


def mark_breaks_of_path(path: str) -> Markup:
    """Return `path` as HTML that may break after each slash but the first; a template filter."""
    return Markup("/") + Markup("/<wbr>").join(path.removeprefix("/").split("/"))


PAGE_MESSAGES = {
    "NOT_FOUND": "We can’t find this page. Check that you copied the whole link.",
    "RATE_LIMITED": "You tried too often in a short time.",
    "SERVICE_UNAVAILABLE": "A part of this service does not work at the moment.",
    "DATABASE_UNAVAILABLE": "A part of this service does not work at the moment. What you sent may not be saved.",
    "BUSY": "Somebody else is changing the same thing right now.",
    "INTERNAL_ERROR": "This is our mistake, and we have recorded it. Please try again in a few minutes.",
    "ALREADY_ADMITTED": "This guest is already inside, so you cannot change the ticket.",
    "OTP_WRONG": "This code is wrong. Use the code in the newest message on your phone.",
    "INVALID_CREDENTIALS": "The e-mail address or the password is wrong. Try again, or choose a new password.",
    "IDENTITY_REJECTED": "This sign-in took too long or was used before. Please start again.",
    "PROVIDER_UNAVAILABLE": "We cannot reach the other service at the moment.",
    "EMAIL_NOT_VERIFIED_BY_PROVIDER": "The other service has not confirmed your e-mail address. Confirm it there, or "
    "sign up with a password here.",
    "RESET_TOKEN_INVALID": "Somebody changed the password at the same moment. Ask for a new code.",
}


def describe_error(error: AppError) -> str:
    """Return the message of an error, with the time to wait if there is one."""
    has_own_message = error.text != type(error).message
    message = error.text if has_own_message else PAGE_MESSAGES.get(error.code, error.text)
    seconds = error.headers.get("Retry-After", "")
    return f"{message} Try again in {format_wait(int(seconds))}." if seconds.isdigit() else message


def format_wait(seconds: int) -> str:
    """Return a waiting time in seconds, minutes or hours, rounded up: "3 minutes"."""
    for size, unit in ((3600, "hour"), (60, "minute")):
        if seconds > 2 * size:
            return f"{-(-seconds // size)} {unit}s"
    return f"{seconds} second{'' if seconds == 1 else 's'}"
