"""The cover picture of an event: uploaded, and cropped to the shape of the page and of the card in messages."""

from flask import Response, request, url_for
from flask.typing import ResponseReturnValue

from app.accounts.caller import Caller
from app.accounts.permissions import EVENTS_WRITE
from app.blueprints.pages.desk.form_parts import VERSION
from app.blueprints.pages.desk.shell import DeskPages, go_to, render_desk_form
from app.blueprints.pages.event_metadata import find_upload_path
from app.blueprints.pages.forms import FORM_ERRORS, FilledForm, Form, Input, find_upload_error
from app.blueprints.pages.inputs import PICTURE_ERRORS
from app.core.errors import ValidationFailed
from app.core.images import Crop
from app.core.languages import gettext, lazy_gettext
from app.events import actions, queries
from app.events.queries import OwnEvent
from app.media.actions import MAX_UPLOAD_BYTES, store_picture
from app.web.access import may
from app.web.fields import Boolean, Choice, Text, WholeNumber
from app.web.schema import Query

blueprint = DeskPages(
    "desk_event_cover", __name__, url_prefix="/desk/events/<event_id>/cover", max_bytes=MAX_UPLOAD_BYTES
)
WRITE = may(EVENTS_WRITE)
WIDTH, HEIGHT = 1200, 630
CROPS = {
    "centre": Crop(WIDTH, HEIGHT),
    "top": Crop(WIDTH, HEIGHT, down=0),
    "bottom": Crop(WIDTH, HEIGHT, down=1),
    "left": Crop(WIDTH, HEIGHT, across=0),
    "right": Crop(WIDTH, HEIGHT, across=1),
}
CROP_LABELS = {
    "centre": lazy_gettext("The middle"),
    "top": lazy_gettext("The upper part of a tall picture"),
    "bottom": lazy_gettext("The lower part of a tall picture"),
    "left": lazy_gettext("The left part of a wide picture"),
    "right": lazy_gettext("The right part of a wide picture"),
}


class CoverSchema(Query):
    picture = Text()
    part = Choice(*CROPS, required=True)
    removed = Boolean(load_default=False)
    version = WholeNumber(required=True)


COVER = Form(
    CoverSchema,
    Input(
        "picture",
        lazy_gettext("Picture"),
        hint=lazy_gettext("JPEG, PNG or WebP, up to 5 MB."),
        messages={"required": lazy_gettext("Choose a picture.")},
        error_codes=(*PICTURE_ERRORS, "PAYLOAD_TOO_LARGE"),
    ),
    Input(
        "part",
        lazy_gettext("Which part do people see?"),
        hint=lazy_gettext(
            "The picture is cut to 1200 by 630 pixels, the shape in which pages and shared links show it."
        ),
        options=list(CROP_LABELS.items()),
    ),
    Input("removed", lazy_gettext("Remove the picture"), type="checkbox"),
    VERSION,
)
COVER.marks_optional = False


@blueprint.page("", access=WRITE)
def show(caller: Caller, event_id: str) -> ResponseReturnValue:
    """Show the form for the picture."""
    event = queries.get_event(caller, event_id)
    form = COVER.fill(part="centre", version=str(queries.get_version(event)))
    error = find_upload_error(MAX_UPLOAD_BYTES)
    return _render(event, form.with_error(error) if error else form)


@blueprint.act("", access=WRITE)
def change(caller: Caller, event_id: str) -> ResponseReturnValue:
    """Store the chosen part of the picture as the cover, or remove the cover."""
    event = queries.get_event(caller, event_id)
    form = COVER.from_request()
    try:
        values = form.load()
        url = None if values["removed"] else _store(caller, values["part"])
        actions.change_event(caller=caller, id=event_id, expected_version=values["version"], cover_image_url=url)
    except FORM_ERRORS as error:
        return _render(event, form.with_error(error))
    done = gettext("The picture is removed.") if values["removed"] else gettext("The picture is saved.")
    return go_to(url_for("desk_event.show", event_id=event_id), done)


def _store(caller: Caller, part: str) -> str:
    """Store the chosen part of the uploaded file; returns its address. Raises ValidationFailed without a file."""
    file = request.files.get("picture")
    if file is None or not file.filename:
        raise ValidationFailed.of("picture", "required", gettext("Choose a picture."))
    return store_picture(client_id=caller.client_id, data=file.read(), crop=CROPS[part]).url


def _render(event: OwnEvent, form: FilledForm) -> Response:
    return render_desk_form(
        form,
        event=event,
        title=gettext("Cover picture"),
        lead=gettext("People see it on the page of the event and when somebody shares the event."),
        button=gettext("Save"),
        back=url_for("desk_event.show", event_id=event.id),
        template="desk/event_cover.html",
        has_files=True,
        cover_path=find_upload_path(event.cover_image_url),
    )
