"""Pictures of a stall, on the page after an application was sent; this browser's session says of which application."""

from flask import Response, flash, redirect, request, session, url_for
from flask.typing import ResponseReturnValue

from app.applications import actions, queries
from app.blueprints.pages.apply_form import SENT_KEY
from app.blueprints.pages.forms import FORM_ERRORS, Form, Input, find_upload_error, render_form
from app.blueprints.pages.rendering import Pages
from app.core import images
from app.core.errors import AppError, ValidationFailed
from app.core.languages import gettext, lazy_gettext
from app.web.fields import Text
from app.web.rate_limits import Limit, count_request
from app.web.schema import Query

UPLOAD_LIMIT, ROUTE = Limit(10), "/apply/pictures"
MAX_UPLOAD_BYTES = 4 * images.MAX_BYTES + 1024 * 1024
"""Four pictures, and what a multipart body has besides."""
blueprint = Pages("apply_pictures", __name__, url_prefix=ROUTE, max_bytes=MAX_UPLOAD_BYTES, translated=True)


class PicturesSchema(Query):
    pictures = Text()


MESSAGES = {
    "required": lazy_gettext("Choose at least one picture."),
    "too_many": lazy_gettext("Choose four pictures at most. Nothing was saved."),
    "IMAGE_TOO_LARGE": lazy_gettext("A picture is larger than 5 MB. Nothing was saved: choose all pictures again."),
    "IMAGE_KIND_UNSUPPORTED": lazy_gettext(
        "A file is no JPEG, PNG or WebP picture. Nothing was saved: choose all pictures again."
    ),
    "IMAGE_TOO_MANY_PIXELS": lazy_gettext(
        "A picture has more than 40 megapixels. Nothing was saved: choose all pictures again."
    ),
    "IMAGE_UNREADABLE": lazy_gettext("A picture is damaged. Nothing was saved: choose all pictures again."),
}
PICTURES = Form(
    PicturesSchema,
    Input(
        "pictures",
        lazy_gettext("Pictures of your stall"),
        hint=lazy_gettext("Up to four JPEG, PNG or WebP files, 5 MB each."),
        type="file",
        messages={code: MESSAGES[code] for code in ("required", "too_many")},
    ),
)


@blueprint.get("")
def show() -> ResponseReturnValue:
    """Show the page again, after an upload that was too large."""
    return render_sent(find_upload_error(MAX_UPLOAD_BYTES)) if SENT_KEY in session else redirect("/", 303)


@blueprint.post("")
def send() -> ResponseReturnValue:
    """Store the pictures instead of those that were sent before."""
    application_id = session.get(SENT_KEY, {}).get("id")
    if application_id is None:
        return redirect("/", 303)
    try:
        count_request(UPLOAD_LIMIT, ROUTE)
        files = [file for file in request.files.getlist("pictures") if file.filename]
        contents = [(file.filename or "", file.read(images.MAX_BYTES + 1)) for file in files]
        actions.upload_pictures(application_id=application_id, files=contents)
    except ValidationFailed as error:
        return render_sent(_name_pictures(error))
    except FORM_ERRORS as error:
        return render_sent(error)
    flash(gettext("We have your pictures."))
    return redirect(url_for("apply.show_sent"), 303)


def _name_pictures(error: ValidationFailed) -> ValidationFailed:
    """The error with the name of each picture that cannot be used."""
    return ValidationFailed(
        [
            {**problem, "code": "picture", "message": f"{problem['message'][:80]}: {MESSAGES[problem['code']]}"}
            if problem["code"].isupper()
            else problem
            for problem in error.data["errors"]
        ]
    )


def render_sent(error: AppError | None = None) -> Response:
    """Return the page that confirms the application of this session, with the form for pictures until it is decided."""
    sent = session[SENT_KEY]
    form = PICTURES.fill()
    return render_form(
        "pages/apply_sent.html",
        form.with_error(error) if error else form,
        sent=sent,
        contact=sent["contact"],
        picture_count=queries.count_pictures(sent["id"]) if "id" in sent else None,
    )
