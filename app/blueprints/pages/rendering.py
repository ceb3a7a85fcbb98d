"""HTML pages: strict content security policy, no caching, and errors as pages with messages for people."""

import re
from collections.abc import Callable
from urllib.parse import quote

from flask import Blueprint, Response, current_app, make_response, redirect, render_template, request
from flask.typing import ResponseReturnValue
from markupsafe import Markup, escape

from app.blueprints.pages import csrf, signed_in
from app.blueprints.pages.page_language import choose_visitor_language, list_language_links
from app.blueprints.pages.page_organiser import find_page_organiser
from app.core.errors import AppError, MethodNotAllowed, NotFound
from app.core.languages import SOURCE_LANGUAGE, find_page_language, get_language, gettext, lazy_gettext, ngettext
from app.web.envelope import get_request_id
from app.web.error_handlers import ERROR_PAGE_KEY
from app.web.middleware import ROUTE_KEY
from app.web.openapi_property_descriptions import DESCRIPTIONS

POLICY = (
    "default-src 'none'; style-src 'self'; img-src 'self' data:; frame-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
REFRESH_POLICY = f"{POLICY}; script-src 'self'; connect-src 'self'"
"""The policy of a page that a script brings up to date."""
MAX_FORM_BYTES = 64 * 1024
TOO_LARGE_KEY = "tooLarge"
"""The query parameter with the size of an upload that was refused; nginx adds it too."""


class Pages(Blueprint):
    """A blueprint of HTML pages: errors are pages, forms need a CSRF token, request bodies have a maximum size.

    `is_csrf_exempt` tells whether the current request needs no CSRF token. With `needs_sign_in` a visitor who is not
    signed in is sent to `/sign-in`; views get the person from `signed_in.get_signed_in_caller()`. Pages that are not
    `translated` are English.
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
        translated: bool = False,
    ) -> None:
        super().__init__(name, import_name, url_prefix=url_prefix)
        self.translated = translated
        if translated:
            self.before_request(choose_visitor_language)
        self.max_bytes, self.is_csrf_exempt = max_bytes, is_csrf_exempt
        self.before_request(_log_rule_instead_of_path)
        self.before_request(render_errors_as_pages)
        self.before_request(_refuse_control_characters)
        self.before_request(self._limit_body_size)
        self.before_request(self._check_csrf_token)
        if needs_sign_in:
            self.before_request(signed_in.redirect_to_sign_in)

    def _check_csrf_token(self) -> None:
        if self.is_csrf_exempt is None or not self.is_csrf_exempt():
            csrf.protect()

    def _limit_body_size(self) -> ResponseReturnValue | None:
        """Limit the request body, because the page shows the values again. A larger upload leads to its form."""
        request.max_content_length = self.max_bytes
        size = request.content_length or 0
        if self.max_bytes <= MAX_FORM_BYTES or size <= self.max_bytes:
            return None
        _discard_body(min(size, 2 * self.max_bytes))
        return redirect(f"{quote(request.path)}?{TOO_LARGE_KEY}={size}", 303)


def render_page(template: str, *, status: int = 200, **context: object) -> Response:
    """Return the rendered template as a response. The template can read `status` too, and `next`: where to go back to.

    Its header has the organiser, if a variable has an `organiser_id`. It has the name of the signed-in person, or a link
    to sign in, if the request has asked who that is.
    """
    links = list_language_links() if find_page_language() else []
    page_organiser = find_page_organiser(context)
    context = {
        "status": status,
        "language_links": links,
        "page_organiser": page_organiser,
        "site_name": page_organiser.name if page_organiser else "Event Commerce",
        "operators_email": current_app.extensions["settings"].CONTACT_EMAIL,
        "next": signed_in.find_next_path(),
        **signed_in.get_header_context(),
        **context,
    }
    page = render_template(template, language=get_language(), **context)
    response = make_response(page, status)
    response.headers["Content-Security-Policy"] = POLICY
    response.headers["Cache-Control"] = "no-store"
    response.headers["Content-Language"] = get_language()
    response.vary.add("Accept-Language")
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


def render_unknown_path(error: AppError) -> Response:
    """Return the page of an error at an address that no page has."""
    choose_visitor_language()
    return render_error(error)


def render_errors_as_pages() -> None:
    """Show the errors of this request as pages instead of JSON; for `before_request`."""
    request.environ[ERROR_PAGE_KEY] = render_error


def _refuse_control_characters() -> None:
    """A part of the path with a control character is NotFound, because PostgreSQL cannot look it up."""
    if any(isinstance(value, str) and not value.isprintable() for value in (request.view_args or {}).values()):
        raise NotFound()


def _discard_body(size: int) -> None:
    """Read the body up to this size: most browsers show a response only when they have sent everything."""
    stream = request.environ["wsgi.input"]
    while size > 0 and (chunk := stream.read(min(size, MAX_FORM_BYTES))):
        size -= len(chunk)


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
    "NOT_FOUND": lazy_gettext("We can’t find this page. Check that you copied the whole link."),
    "METHOD_NOT_ALLOWED": lazy_gettext("This page cannot do that. Open it again with the link from the e-mail."),
    "BAD_REQUEST": lazy_gettext("We could not read this. Open the page again, and send the form again."),
    "BODY_BROKEN": lazy_gettext("The connection was lost while you sent the form. Please send it again."),
    "CONFLICT": lazy_gettext("Something has changed in the meantime. Open the page again."),
    "VALIDATION_FAILED": lazy_gettext("Something is missing or wrong. Check what you entered."),
    "UNPROCESSABLE": lazy_gettext("Something is missing or wrong. Check what you entered."),
    "UNSUPPORTED_MEDIA_TYPE": lazy_gettext("We cannot read this kind of file. Choose another file."),
    "URI_TOO_LONG": lazy_gettext("The address of this page is too long. Open it again from the e-mail."),
    "ROLE_NOT_ALLOWED": lazy_gettext(
        "Your account may not open this page. Ask the owner of the team for access, or sign in with another account."
    ),
    "TOKEN_MISSING": lazy_gettext("Sign in first."),
    "TOKEN_EXPIRED": lazy_gettext("Sign in again."),
    "TOKEN_INVALID": lazy_gettext("Sign in again."),
    "PAYLOAD_TOO_LARGE": lazy_gettext("What you sent is too large. Send less at once."),
    "LINK_EXPIRED": lazy_gettext("This link has expired, or a newer one has replaced it. Ask for a new one."),
    "FORM_EXPIRED": lazy_gettext(
        "This page was open for too long, or your browser did not keep its cookie. Nothing was changed. "
        "Open the page again and send the form again."
    ),
    "RATE_LIMITED": lazy_gettext("You tried too often in a short time."),
    "SERVICE_UNAVAILABLE": lazy_gettext("A part of this service does not work at the moment."),
    "DATABASE_UNAVAILABLE": lazy_gettext(
        "A part of this service does not work at the moment. What you sent may not be saved."
    ),
    "BUSY": lazy_gettext("Somebody else is changing the same thing right now."),
    "INTERNAL_ERROR": lazy_gettext("This is our mistake, and we have recorded it. Please try again in a few minutes."),
    "DOCUMENTS_MISSING": lazy_gettext("Some documents are missing. Upload them first."),
    "DOCUMENT_TOO_LARGE": lazy_gettext("A document may have 10 MB at most."),
    "DOCUMENT_TYPE_UNSUPPORTED": lazy_gettext("We can only read PDF, JPEG and PNG files. Choose another file."),
    "IMAGE_KIND_UNSUPPORTED": lazy_gettext("We can only read JPEG, PNG and WebP pictures. Choose another file."),
    "IMAGE_TOO_LARGE": lazy_gettext(
        "This picture is larger than 5 MB. Save it with fewer pixels, and choose it again."
    ),
    "IMAGE_TOO_MANY_PIXELS": lazy_gettext(
        "This picture has more than 40 megapixels. Save it with fewer pixels, and choose it again."
    ),
    "IMAGE_UNREADABLE": lazy_gettext("This picture is damaged. Choose another file."),
    "ALREADY_DECIDED": lazy_gettext("This application was decided in the meantime. Open the page again."),
    "APPLICATION_STATE": lazy_gettext("Something has changed in the meantime. Open the page again."),
    "HAS_STALL": lazy_gettext("You have a stall at this event already, or an approved application for one."),
    "STALL_TYPE_FULL": lazy_gettext("All places of this stall type are taken. Choose another one."),
    "STALE_VERSION": lazy_gettext(
        "Somebody else has changed this in the meantime, so nothing was saved. Open the page again."
    ),
    "MERCHANT_PAUSED": lazy_gettext("Your business is paused. Resume it first."),
    "PAYRAIL_UNAVAILABLE": lazy_gettext(
        "Payments do not work at the moment. You have not paid anything. Try again in a moment."
    ),
    "INSUFFICIENT_SLOTS": lazy_gettext("There are fewer free places than that."),
    "INSUFFICIENT_TICKETS": lazy_gettext("There are fewer free tickets than that."),
    "IMPORT_REJECTED": lazy_gettext("Some rows have errors, so nothing was saved."),
    "INVOICE_ADDRESS_MISSING": lazy_gettext("The holder of these tickets has no e-mail address. Enter one."),
    "NOT_PUBLISHABLE": lazy_gettext("Something is still missing, so the event cannot be published yet."),
    "STOCK_LINK_EXPIRED": lazy_gettext("This link was valid for five minutes. Ask for a new one."),
    "SHIFT_CODE_LOCKED": lazy_gettext("There were too many wrong codes."),
    "SHIFT_OPEN": lazy_gettext("Somebody has an open shift. End it first."),
    "LAST_SIGN_IN_METHOD": lazy_gettext("You need another way to sign in first. Set a password."),
    "RELEASE_TIME_PASSED": lazy_gettext("It is too late for that. Ask the person who gave you the ticket."),
    "ALREADY_ADMITTED": lazy_gettext("This guest is already inside, so you cannot change the ticket."),
    "ALREADY_CLAIMED": lazy_gettext("This e-mail address already has a ticket. Look for it in its mailbox."),
    "NO_SLOTS_LEFT": lazy_gettext("All tickets are taken."),
    "OTP_WRONG": lazy_gettext("This code is wrong. Use the code in the newest message on your phone."),
    "CODE_INVALID": lazy_gettext("The code is wrong or has expired. Ask for a new one."),
    "EMAIL_NOT_VERIFIED": lazy_gettext("Confirm your e-mail address first: open your account, and enter the code."),
    "INVALID_CREDENTIALS": lazy_gettext(
        "The e-mail address or the password is wrong. Try again, or choose a new password."
    ),
    "BALANCE_NOT_ZERO": lazy_gettext("There is money on your balance. Have it paid out first."),
    "PAYOUT_IN_PROGRESS": lazy_gettext("A payout is under way. Wait until it is settled, or cancel it."),
    "NOT_CANCELLABLE": lazy_gettext("This payout has left already, or is over, so it cannot be cancelled."),
    "INSUFFICIENT_FUNDS": lazy_gettext("This is more than you have available."),
    "PAYOUT_DETAILS_MISSING": lazy_gettext("Add your payout details first."),
    "OWNER_MUST_CONFIRM": lazy_gettext(
        "Nothing was paid there before. Only the owner of the business can request the first payout."
    ),
    "NO_OPEN_SHIFT": lazy_gettext("This shift has ended already."),
    "SHIFT_TIMES_CROSS": lazy_gettext("Something later has been recorded already. Try again."),
    "CHALLENGE_INVALID": lazy_gettext("This sign-in took too long, or had too many wrong codes."),
    "CONFIRMATION_REQUIRED": lazy_gettext("Sign in again, and repeat this within 10 minutes."),
    "SECOND_FACTOR_OFF": lazy_gettext("You need a second factor yourself first. Turn it on in your account."),
    "SECOND_FACTOR_SETUP_REQUIRED": lazy_gettext(
        "You need a second factor for this. Turn it on in your account first."
    ),
    "IDENTITY_REJECTED": lazy_gettext("This sign-in took too long or was used before. Please start again."),
    "PROVIDER_UNAVAILABLE": lazy_gettext("We cannot reach the other service at the moment."),
    "EMAIL_NOT_VERIFIED_BY_PROVIDER": lazy_gettext(
        "The other service has not confirmed your e-mail address. Confirm it there, or sign up with a password here."
    ),
    "RESET_TOKEN_INVALID": lazy_gettext("Somebody changed the password at the same moment. Ask for a new code."),
    "MAIL_LIMIT_REACHED": lazy_gettext(
        "So many e-mails were sent today, in all or to this address, that no more go out."
    ),
    "SENDER_NOT_VERIFIED": lazy_gettext("The owner of the organisation has to confirm their e-mail address first."),
    "CURRENT_PASSWORD_WRONG": lazy_gettext("This password is wrong."),
    "NOTHING_DUE": lazy_gettext("You have nothing left to do here at the moment."),
    "APPLICATIONS_CLOSED": lazy_gettext("This event is over or was cancelled, so you cannot pay or apply any more."),
    "PAYMENT_EXPIRED": lazy_gettext(
        "The time for the code is over, or it was wrong five times. You have not paid anything. Ask for a new code."
    ),
    "PAYMENT_NOT_STARTED": lazy_gettext("There is no payment yet. Ask for a code first."),
    "PAYMENT_DECLINED": lazy_gettext(
        "The wallet declined the payment. You have not paid anything. Check its balance, or pay from another wallet."
    ),
    "CAMPAIGN_FROZEN": lazy_gettext(
        "The message is being sent or was cancelled, so you cannot change it. Copy it to write another one."
    ),
    "CAMPAIGN_STARTED": lazy_gettext("Sending has begun, so you cannot cancel the message any more."),
    "NOTHING_UNCERTAIN": lazy_gettext(
        "None of these messages is uncertain any more, so there is nothing to send again."
    ),
    "NO_WAY_TO_YOU": lazy_gettext(
        "No channel of this message reaches you. Add your phone number in your account, and try again."
    ),
    "VISIBILITY_NOT_REACHABLE": lazy_gettext("The event has changed in the meantime. Open the page again."),
    "TICKETS_COMMITTED": lazy_gettext(
        "Tickets of this type are sold or kept for guests. Enter at least as many, and do not remove the type."
    ),
    "CAPACITY_COMMITTED": lazy_gettext("More places than that are sold or kept for guests. Enter a larger capacity."),
    "PAYMENT_IN_PROGRESS": lazy_gettext("A payment is in progress, and we do not know its result yet. Wait a minute."),
}
ALWAYS_REWORDED = ("MAIL_LIMIT_REACHED", "ROLE_NOT_ALLOWED")
"""Errors whose own texts are for programs: one names the roles and tiers that may call."""


PROPERTY_NAMES = [name for name in DESCRIPTIONS if re.fullmatch(r"[a-z]+[A-Z]\w*", name)]
FOR_PROGRAMS = re.compile(
    rf"\bdata\b|Retry-After|Idempotency|X-[A-Z]|`|\bJSON\b|\b(?:GET|POST|PUT|PATCH|DELETE)\b|/api/|docs/|/docs"
    rf"|\bthe body\b|\bheader\b|\btoken\b|\w --\w|\b(?:{'|'.join(PROPERTY_NAMES)})\b"
)
"""What a message has that is meant for a program: words of the protocol, and names of properties."""


def describe_error(error: AppError) -> str:
    """Return the message of an error, with the time to wait if there is one."""
    is_for_programs = FOR_PROGRAMS.search(error.text) is not None
    has_own_text = error.text != type(error).message and not isinstance(error, MethodNotAllowed)
    if error.code in PAGE_MESSAGES and (is_for_programs or not has_own_text or error.code in ALWAYS_REWORDED):
        message = str(PAGE_MESSAGES[error.code])
    else:
        message = gettext("This is not possible now.") if is_for_programs else gettext(error.text)
        if message == error.text and error.code in PAGE_MESSAGES and get_language() != SOURCE_LANGUAGE:
            message = str(PAGE_MESSAGES[error.code])  # A text with values has no translation.
    seconds = error.headers.get("Retry-After", "")
    if not seconds.isdigit():
        return message
    return gettext("%(message)s Try again in %(wait)s.", message=message, wait=format_wait(int(seconds)))


def format_wait(seconds: int) -> str:
    """Return a waiting time in seconds, minutes or hours, rounded up: "3 minutes"."""
    if seconds > 2 * 3600:
        return ngettext("%(num)s hour", "%(num)s hours", -(-seconds // 3600))
    if seconds > 2 * 60:
        return ngettext("%(num)s minute", "%(num)s minutes", -(-seconds // 60))
    return ngettext("%(num)s second", "%(num)s seconds", seconds)
