"""Logos of sponsors, which are uploaded in the rows of their list."""

from dataclasses import replace

from flask import request

from app.accounts.caller import Caller
from app.blueprints.pages.desk.row_forms import RowForm
from app.blueprints.pages.rendering import describe_error
from app.core import images
from app.media.actions import store_picture

LOGO, LOGO_URL = "logo", "logoUrl"
"""The fields of a row: the file, and the address under which it is stored."""


def store_logos(caller: Caller, form: RowForm) -> tuple[RowForm, list[dict[str, str]]]:
    """The form with the addresses of the logos that were uploaded, and the problems of the others. Raises Throttled."""
    values, problems = dict(form.values), []
    for row, (title, _) in enumerate(form.rows):
        file = request.files.get(form.row_list.name_field(row, LOGO))
        if file is None or not file.filename:
            continue
        try:
            picture = store_picture(client_id=caller.client_id, data=file.read())
            values[form.row_list.name_field(row, LOGO_URL)] = picture.url
        except images.PROBLEMS as error:
            problems.append({"path": "", "code": error.code, "message": f"{title}: {describe_error(error)}"})
    return replace(form, values=values), problems
