"""PDFs as responses."""

from flask import Response

PDF_HEADERS = {"Cache-Control": "private, no-store", "Content-Security-Policy": "sandbox; default-src 'none'"}


def build_pdf_response(data: bytes, name: str) -> Response:
    """Return a PDF that a browser may show, with a file name."""
    disposition = f'inline; filename="{name}.pdf"'
    return Response(data, content_type="application/pdf", headers={**PDF_HEADERS, "Content-Disposition": disposition})
