"""The pages of the second factor: its state, setting up an app, recovery codes, and turning it off.

Secrets and recovery codes are shown in the response to a form, and nowhere else. While an app is set up, the page carries
the encrypted secret, so that a wrong code does not need another QR code; no other session can read it.
"""

from dataclasses import dataclass
from functools import partial

import segno
from flask import Response, redirect, url_for
from flask.typing import ResponseReturnValue

from app.accounts import actions, queries
from app.accounts.errors import SecondFactorOff, SecondFactorOn
from app.blueprints.pages.forms import FORM_ERRORS, FilledForm, Form, Input, render_form, submit
from app.blueprints.pages.owner_confirmation import PASSWORD, ConfirmedSchema, for_owner
from app.blueprints.pages.rendering import Pages, render_page
from app.blueprints.pages.signed_in import get_signed_in_caller
from app.core.languages import gettext, lazy_gettext
from app.web import rate_limits
from app.web.fields import Secret
from app.web.rate_limits import CODE_ATTEMPT_LIMIT
from app.web.schema import Query

blueprint = Pages(
    "account_second_factor", __name__, url_prefix="/account/second-factor", needs_sign_in=True, translated=True
)
STATE_PAGE, CONFIRM_PAGE = "pages/account_second_factor.html", "pages/account_second_factor_confirm.html"
SETUP_PAGE, CODES_PAGE = "pages/account_second_factor_setup.html", "pages/account_recovery_codes.html"


class CodeSchema(Query):
    code = Secret(required=True, max=64)
    setup = Secret(required=True, max=200)


CONFIRMATION = Form(ConfirmedSchema, PASSWORD)
CODE = Form(
    CodeSchema,
    Input(
        "code",
        lazy_gettext("Code that the app shows"),
        hint=lazy_gettext("Six digits. It changes every 30 seconds."),
        type="code",
        autocomplete="one-time-code",
        inputmode="numeric",
        messages={"required": lazy_gettext("Enter the code that the app shows.")},
        error_codes=("CODE_INVALID", "RATE_LIMITED"),
    ),
    Input("setup", "", type="hidden"),
)


@dataclass(frozen=True)
class Change:
    """A change that the owner confirms: the texts of its page."""

    title: str
    lead: str
    button: str
    is_danger: bool = False


CHANGES = {
    "start": Change(
        lazy_gettext("Turn on the second factor"),
        lazy_gettext(
            "You need a phone with an authenticator app, such as Aegis, 2FAS, Google Authenticator or that of your "
            "password manager. Each sign-in then needs a code of the app."
        ),
        lazy_gettext("Continue"),
    ),
    "recovery-codes": Change(
        lazy_gettext("Get new recovery codes"),
        lazy_gettext("You get ten new codes. The earlier ones stop working."),
        lazy_gettext("Get new codes"),
    ),
    "off": Change(
        lazy_gettext("Turn off the second factor?"),
        lazy_gettext("Then your password alone signs in, also for somebody who has stolen it."),
        lazy_gettext("Turn it off"),
        is_danger=True,
    ),
}


@blueprint.get("")
def show() -> Response:
    """Show whether the second factor is on, and what can be changed."""
    caller = get_signed_in_caller()
    state = queries.get_second_factor(caller)
    return render_page(STATE_PAGE, state=state, is_verified=caller.email_verified, is_admin=caller.tier is not None)


@blueprint.get("/<any('start', 'recovery-codes', 'off'):change>")
def ask(change: str) -> ResponseReturnValue:
    """Ask for the password."""
    return _render_question(change, for_owner(CONFIRMATION).fill())


@blueprint.post("/start")
def start() -> ResponseReturnValue:
    """Show the QR code of a new secret, and the form for the first code."""
    form = for_owner(CONFIRMATION).from_request()
    try:
        enrolment = actions.begin_second_factor(caller=get_signed_in_caller(), **form.load())
    except SecondFactorOn:
        return redirect(url_for("account_second_factor.show"), 303)
    except FORM_ERRORS as error:
        return _render_question("start", form.with_error(error))
    return _render_setup(CODE.fill(setup=enrolment.token), enrolment)


@blueprint.post("/confirm")
def confirm() -> ResponseReturnValue:
    """Turn the second factor on, and show the recovery codes."""
    caller, form = get_signed_in_caller(), CODE.from_request()
    try:
        rate_limits.count_request(CODE_ATTEMPT_LIMIT, "/api/auth/second-factor/confirm", account_id=caller.id)
        codes = actions.confirm_second_factor(caller=caller, code=form.load()["code"])
    except SecondFactorOn:
        return redirect(url_for("account_second_factor.show"), 303)
    except FORM_ERRORS as error:
        enrolment = actions.restore_enrolment(caller=caller, token=form.value("setup"))
        if enrolment is None:
            return redirect(url_for("account_second_factor.ask", change="start"), 303)
        return _render_setup(form.with_error(error), enrolment)
    return render_page(CODES_PAGE, codes=codes, is_new=True)


@blueprint.post("/recovery-codes")
def renew_codes() -> ResponseReturnValue:
    """Show ten new recovery codes."""
    form = for_owner(CONFIRMATION).from_request()
    try:
        codes = actions.renew_recovery_codes(caller=get_signed_in_caller(), **form.load())
    except SecondFactorOff:
        return redirect(url_for("account_second_factor.show"), 303)
    except FORM_ERRORS as error:
        return _render_question("recovery-codes", form.with_error(error))
    return render_page(CODES_PAGE, codes=codes, is_new=False)


@blueprint.post("/off")
def turn_off() -> ResponseReturnValue:
    """Turn the second factor off."""
    return submit(
        for_owner(CONFIRMATION).from_request(),
        partial(actions.turn_off_second_factor, caller=get_signed_in_caller()),
        partial(_render_question, "off"),
        done=gettext("The second factor is off."),
        path=url_for("account_second_factor.show"),
    )


def _render_question(change: str, form: FilledForm) -> Response:
    return render_form(CONFIRM_PAGE, form, key=change, change=CHANGES[change], email=get_signed_in_caller().email)


def _render_setup(form: FilledForm, enrolment: actions.Enrolment) -> Response:
    picture = segno.make(enrolment.uri, error="m", micro=False).svg_data_uri(scale=4, border=4)
    return render_form(SETUP_PAGE, form, qr_code=picture, secret=enrolment.secret)
