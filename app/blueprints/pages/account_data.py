"""The data of the signed-in person: get a copy, delete the account, and keep it."""

from flask import Response, flash, redirect, url_for
from flask.typing import ResponseReturnValue

from app.accounts import actions
from app.accounts.errors import InvalidCredentials
from app.accounts.personal_data_queries import load_personal_data_status
from app.blueprints.pages.forms import FORM_ERRORS, FilledForm, Form, render_form
from app.blueprints.pages.owner_confirmation import PASSWORD, ConfirmedSchema, for_owner
from app.blueprints.pages.rendering import Pages, describe_error, render_page
from app.blueprints.pages.signed_in import get_signed_in_caller
from app.core.errors import AppError
from app.core.formatting import format_time
from app.core.languages import gettext

blueprint = Pages("account_data", __name__, url_prefix="/account/data", needs_sign_in=True, translated=True)


DELETION = Form(ConfirmedSchema, PASSWORD)


@blueprint.get("")
def show() -> Response:
    """Show how to get a copy, and how to delete the account or to keep it."""
    return _render()


@blueprint.post("/export")
def request_export() -> ResponseReturnValue:
    """Have a copy made."""
    caller = get_signed_in_caller()
    if caller.email_verified:
        try:
            actions.request_export(caller=caller)
        except FORM_ERRORS as error:
            return _render(error)
        flash(gettext("We are making your copy. A link to it comes to %(email)s.", email=caller.email))
    return redirect(url_for("account_data.show"), 303)


@blueprint.get("/delete")
def confirm_deletion() -> Response:
    """Say what a deletion does, and ask for the password."""
    return _render_deletion(for_owner(DELETION).fill())


@blueprint.post("/delete")
def request_deletion() -> ResponseReturnValue:
    """Mark the account for deletion."""
    form = for_owner(DELETION).from_request()
    try:
        planned_deletion = actions.request_deletion(caller=get_signed_in_caller(), **form.load())
    except InvalidCredentials:
        return redirect(url_for("sign_in.start"), 303)
    except FORM_ERRORS as error:
        return _render_deletion(form.with_error(error))
    flash(
        gettext(
            "Your account will be deleted on %(time)s. You can keep it until then.",
            time=format_time(planned_deletion.deletes_at),
        )
    )
    return redirect(url_for("account_data.show"), 303)


@blueprint.post("/keep")
def keep_account() -> ResponseReturnValue:
    """Cancel the deletion."""
    try:
        actions.keep_account(caller=get_signed_in_caller())
    except InvalidCredentials:
        return redirect(url_for("sign_in.start"), 303)
    flash(gettext("Your account stays."))
    return redirect(url_for("account_data.show"), 303)


def _render(error: AppError | None = None) -> Response:
    caller = get_signed_in_caller()
    response = render_page(
        "pages/account_data.html",
        status=error.status if error else 200,
        error=describe_error(error) if error else "",
        email=caller.email,
        is_verified=caller.email_verified,
        personal_data=load_personal_data_status(caller),
    )
    if error:
        response.headers.extend(error.headers)
    return response


def _render_deletion(form: FilledForm) -> Response:
    return render_form("pages/account_data_delete.html", form)
