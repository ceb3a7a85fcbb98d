"""Text of PDFs, as a reader copies it. Without `pdftotext` (poppler-utils) such a test is skipped."""

import shutil
import subprocess

import pytest


def read_pdf_text(document: bytes) -> str:
    """Return the text of a PDF in its layout."""
    if shutil.which("pdftotext") is None:
        pytest.skip("pdftotext is not installed")
    command = ["pdftotext", "-layout", "-", "-"]
    return subprocess.run(command, input=document, capture_output=True, check=True).stdout.decode()
