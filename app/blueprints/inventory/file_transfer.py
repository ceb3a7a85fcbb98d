"""Uploaded files."""

from flask import request

from app.core.errors import UnsupportedMedia, ValidationFailed
from app.inventory.actions.imports import MAX_BYTES
from app.web.request_parser import read_body

# A form is a little larger than the file in it.
MAX_UPLOAD = MAX_BYTES + 64 * 1024
CSV_TYPE = "text/csv; charset=utf-8"


def read_uploaded_file() -> bytes:
    """Return the file of this request, from its body or its form. Raises UnsupportedMedia, ValidationFailed, TooLarge."""
    if request.mimetype == "application/json":
        raise UnsupportedMedia("Send a CSV or XLSX file, as the body or in the field file of a form.")
    if request.mimetype != "multipart/form-data":
        return read_body(request)
    file = request.files.get("file")
    if file is None:
        raise ValidationFailed.of("file", "required", "Send the file in the field file.")
    data: bytes = file.read()
    return data
