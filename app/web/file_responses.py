"""Files as responses."""

from collections.abc import Iterable

from flask import Response

PRIVATE_HEADERS = {"Cache-Control": "private, no-store", "Content-Security-Policy": "sandbox; default-src 'none'"}
"""No proxy may store the file, and it cannot run scripts."""


def build_pdf_response(data: bytes, name: str) -> Response:
    """Return a private PDF that a browser may show, with a file name."""
    disposition = f'inline; filename="{name}.pdf"'
    return Response(
        data, content_type="application/pdf", headers={**PRIVATE_HEADERS, "Content-Disposition": disposition}
    )


def build_attachment(content: bytes | Iterable[bytes], name: str, content_type: str) -> Response:
    """Return a file that browsers save under this name."""
    response = Response(content, content_type=content_type)
    response.headers.set("Content-Disposition", "attachment", filename=name)
    return response


def build_private_attachment(content: bytes, name: str, content_type: str) -> Response:
    """Return a private file that browsers save under this name."""
    response = build_attachment(content, name, content_type)
    response.headers.update(PRIVATE_HEADERS)
    return response
