"""The second step of a sign-in on the pages: the code of the authenticator app, or a recovery code.

The session cookie keeps the challenge of the first step, and where to go afterwards.
"""

from typing import TypedDict

from flask import Response, redirect, session, url_for
from flask.typing import ResponseReturnValue

from app.accounts import actions
from app.accounts.errors import AccountSuspended, ChallengeInvalid, SecondFactorRequired
from app.blueprints.pages import signed_in
from app.blueprints.pages.forms import FORM_ERRORS, FilledForm, Form, Input, render_form
from app.blueprints.pages.rendering import Pages
from app.core.languages import lazy_gettext
from app.web import rate_limits
from app.web.cookies import list_device_marks
from app.web.fields import Secret
from app.web.rate_limits import CODE_ATTEMPT_LIMIT, get_client_network
from app.web.schema import Query
from app.web.session_origin import get_session_origin

KEY, PAGE = "second_step", "pages/second_step.html"
STEP_ROUTE = "/api/auth/login/second-factor"
blueprint = Pages("second_step", __name__, url_prefix="/sign-in/code", translated=True)


class CodeSchema(Query):
    code = Secret(required=True, max=64)


CODE = Form(
    CodeSchema,
    Input(
        "code",
        lazy_gettext("Code"),
        hint=lazy_gettext("Six digits from your authenticator app. Without it, enter one of your recovery codes."),
        type="code",
        autocomplete="one-time-code",
        messages={"required": lazy_gettext("Enter the code."), "too_long": lazy_gettext("This is longer than a code.")},
        error_codes=("CODE_INVALID", "RATE_LIMITED"),
    ),
)


class SecondStep(TypedDict):
    """What the session cookie keeps between the two steps."""

    challenge: str
    next_path: str | None
    remember: bool


def begin(error: SecondFactorRequired, *, next_path: str | None, remember: bool = False) -> ResponseReturnValue:
    """Keep the challenge of the first step, and go to the page for the code."""
    session[KEY] = {"challenge": error.data["challenge"], "next_path": next_path, "remember": remember}
    return redirect(url_for("second_step.show"), 303)


@blueprint.get("")
def show() -> ResponseReturnValue:
    """Show the form for the code."""
    return _render(CODE.fill()) if KEY in session else redirect(url_for("sign_in.start"), 303)


@blueprint.post("")
def finish() -> ResponseReturnValue:
    """Sign in if the code is right. When the first step is too long ago, it starts again."""
    form, step = CODE.from_request(), _find_step()
    if step is None:
        return redirect(url_for("sign_in.start"), 303)
    try:
        rate_limits.count_request(CODE_ATTEMPT_LIMIT, STEP_ROUTE)
        login_result = actions.log_in_with_second_factor(
            challenge=step["challenge"],
            network=get_client_network(),
            device_marks=list_device_marks(),
            origin=get_session_origin("console"),
            **form.load(),
        )
    except ChallengeInvalid as error:
        page = _render(form.with_error(error), is_over=True)
        session.pop(KEY)
        return page
    except (*FORM_ERRORS, AccountSuspended) as error:
        return _render(form.with_error(error))
    signed_in.start_session(login_result, remember=step["remember"])
    return redirect(step["next_path"] or signed_in.get_landing_path(), 303)


def _find_step() -> SecondStep | None:
    step: SecondStep | None = session.get(KEY)
    return step


def _render(form: FilledForm, *, is_over: bool = False) -> Response:
    step = _find_step()
    return render_form(PAGE, form, is_over=is_over, **({"next": step["next_path"]} if step else {}))
