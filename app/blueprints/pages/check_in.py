"""The rotating code of a stall: the page that shows it, and the one that people of the crew open by scanning it."""

import segno
from flask import Response, flash, redirect, request, url_for
from flask.typing import ResponseReturnValue

from app.blueprints.pages.forms import FORM_ERRORS, FilledForm, Form, Input, render_form
from app.blueprints.pages.rendering import REFRESH_POLICY, Pages, render_page
from app.blueprints.pages.signed_in import authorise_page, get_team_caller
from app.blueprints.pages.stall import require_ids
from app.blueprints.pages.stall_crew import READ, WRITE
from app.core.errors import LinkExpired, NotFound, ValidationFailed
from app.core.languages import gettext, lazy_gettext
from app.crew import actions, rotating_codes
from app.crew.rotating_codes import CheckInPage
from app.stall.home import get_own_stall
from app.web.fields import Secret, Text
from app.web.rate_limits import CODE_ATTEMPT_LIMIT, count_lookup_failure, count_request, limit_failed_lookups
from app.web.schema import Query

blueprint = Pages(
    "stall_check_in", __name__, url_prefix="/stall/<event_id>/check-in", needs_sign_in=True, translated=True
)
scanned = Pages("check_in", __name__, url_prefix="/check-in", translated=True)
ROUTE = "/check-in"


class ShiftCodeSchema(Query):
    code = Secret(required=True, max=20)


class CheckInSchema(ShiftCodeSchema):
    member = Text(required=True, max=24)
    pass_token = Secret(required=True, max=200)


SHIFT_CODE_INPUT = Input(
    "code",
    lazy_gettext("Your shift code"),
    type="code",
    inputmode="numeric",
    messages={
        "required": lazy_gettext("Enter your shift code."),
        "SHIFT_CODE_WRONG": lazy_gettext("This is not your shift code. After five wrong codes you have to wait."),
    },
    error_codes=("SHIFT_CODE_WRONG", "SHIFT_CODE_LOCKED", "STALL_CODE_WRONG"),
)
SHIFT_CODE = Form(ShiftCodeSchema, SHIFT_CODE_INPUT)
CHECK_IN = Form(
    CheckInSchema,
    Input(
        "member",
        lazy_gettext("Who are you?"),
        messages=dict.fromkeys(("required", "unknown_value"), lazy_gettext("Choose your name.")),
    ),
    SHIFT_CODE_INPUT,
    Input("passToken", "", type="hidden"),
)


@blueprint.get("")
def show(event_id: str) -> Response:
    """Show the present code as a QR code, or the form for a shift code.

    The page loads again when the code changes, also without scripts.
    """
    return _render_stall(event_id, SHIFT_CODE.fill())


@blueprint.post("/begin")
def begin(event_id: str) -> ResponseReturnValue:
    """Begin the shift of the person whose code was entered on the device of the stall."""
    form = SHIFT_CODE.from_request()
    require_ids(event_id)
    try:
        count_request(CODE_ATTEMPT_LIMIT, ROUTE)
        shift = actions.start_shift(caller=authorise_page(READ), event_id=event_id, code=form.load()["code"])
    except FORM_ERRORS as error:
        return _render_stall(event_id, form.with_error(error))
    flash(gettext("The shift of %(name)s has begun.", name=shift.name))
    return redirect(url_for("stall_check_in.show", event_id=event_id), 303)


def _render_stall(event_id: str, form: FilledForm) -> Response:
    require_ids(event_id)
    caller = authorise_page(READ)
    code = rotating_codes.get_rotating_code(caller, event_id)
    response = render_form(
        "pages/stall_check_in.html",
        form,
        stall=get_own_stall(caller, event_id),
        code=code,
        refresh_seconds=code.seconds_left + 1,
        qr_code=segno.make_qr(code.url, error="m").svg_data_uri(border=4) if code.url else "",
        may_write=WRITE.allows(get_team_caller(WRITE)),
    )
    response.headers["Content-Security-Policy"] = REFRESH_POLICY
    return response


@blueprint.post("")
def switch(event_id: str) -> ResponseReturnValue:
    """Turn the rotating code on or off."""
    require_ids(event_id)
    is_on = request.form.get("on") == "true"
    rotating_codes.set_rotating_code(caller=authorise_page(WRITE), event_id=event_id, rotating_code=is_on)
    flash(
        gettext("This page shows the picture now. Everybody scans it to begin their shift.")
        if is_on
        else gettext("The picture is gone. A shift begins with the shift code, entered on this page.")
    )
    return redirect(url_for("stall_check_in.show", event_id=event_id), 303)


@scanned.get("/<stall_token>/<code>")
@limit_failed_lookups
def start(stall_token: str, code: str) -> Response:
    """Show the form to somebody who has scanned the code in time."""
    try:
        page = rotating_codes.open_check_in(stall_token, code)
    except LinkExpired:
        return _render_expired()
    return _render(page, CHECK_IN.fill(passToken=page.pass_token))


@scanned.post("")
def check_in() -> Response:
    """Begin the shift."""
    form = CHECK_IN.from_request()
    try:
        count_request(CODE_ATTEMPT_LIMIT, ROUTE)
        values = form.load()
        shift = actions.start_shift_at_stall(
            pass_token=values["pass_token"], crew_member_id=values["member"], code=values["code"]
        )
    except LinkExpired:
        return _render_expired()
    except NotFound:
        return _render_gone(form)
    except FORM_ERRORS as error:
        return _render_again(form.with_error(error))
    return render_page("pages/check_in_done.html", name=shift.name, started_at=shift.started_at)


def _render_gone(form: FilledForm) -> Response:
    """Return the form for somebody who has left the crew, or that the code is off."""
    page = rotating_codes.reopen_check_in(form.values["passToken"])
    if form.values["member"] in dict(page.members):
        return _render_expired()
    gone = ValidationFailed.of("member", "unknown_value", gettext("This person is not in the crew."))
    return _render(page, form.with_error(gone))


def _render_again(form: FilledForm) -> Response:
    try:
        return _render(rotating_codes.reopen_check_in(form.values["passToken"]), form)
    except (LinkExpired, NotFound):
        return _render_expired()


def _render(page: CheckInPage, form: FilledForm) -> Response:
    choices = [(member_id, name, "") for member_id, name in page.members]
    return render_form("pages/check_in.html", form, event_name=page.event_name, member_choices=choices)


def _render_expired() -> Response:
    count_lookup_failure()
    return render_page("pages/check_in_expired.html", status=LinkExpired.status)
