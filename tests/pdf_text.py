"""What is on the pages of a PDF, as pdftotext reads it."""

import os
import shutil
import subprocess

import pytest

NEEDS_PDFTOTEXT = pytest.mark.skipif(
    not shutil.which("pdftotext") and not os.environ.get("CI"), reason="apt-get install poppler-utils"
)


def read_pdf(data: bytes) -> str:
    """Return the text of a PDF in its layout."""
    command = ["pdftotext", "-layout", "-", "-"]
    return subprocess.run(command, input=data, capture_output=True, check=True).stdout.decode()
