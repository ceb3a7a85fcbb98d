"""Checks and re-encodes uploaded pictures, so that only pixels remain.

A child process with limited memory and time decodes them, one at a time in each process: a picture that exhausts memory
or hangs harms only the child. Pillow reads only the three formats, by content and never by name; the size in the header
is checked before anything is decoded; only the first frame is kept; metadata (position, camera, profile, comments,
appended data) is not written.
"""

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from threading import BoundedSemaphore
from typing import TypedDict

from app.core.errors import TooLarge, Unprocessable, UnsupportedMedia

MAX_BYTES = 5 * 1024 * 1024
MAX_PIXELS = 40_000_000
MAX_SIDE = 10_000
SECONDS = 15
EXTENSIONS = {"JPEG": "jpg", "PNG": "png", "WEBP": "webp"}
CHILD = Path(__file__).with_name("image_subprocess.py")
_one_at_a_time = BoundedSemaphore(1)


class ImageTooLarge(TooLarge):
    number, code = 41330, "IMAGE_TOO_LARGE"
    message = "The picture has more than 5 MiB; send a smaller one."


class ImageKindUnsupported(UnsupportedMedia):
    number, code = 41530, "IMAGE_KIND_UNSUPPORTED"
    message = "The file is no JPEG, PNG or WebP picture, whatever its name says."


class ImageTooManyPixels(Unprocessable):
    number, code = 42230, "IMAGE_TOO_MANY_PIXELS"
    message = "A picture may have 40 megapixels and 10,000 pixels a side; send a smaller one."


class ImageUnreadable(Unprocessable):
    number, code = 42231, "IMAGE_UNREADABLE"
    message = "The picture is damaged or cut off and cannot be decoded."


PROBLEMS = (ImageTooLarge, ImageKindUnsupported, ImageTooManyPixels, ImageUnreadable)
"""The errors of a picture that cannot be used."""


class ImageReport(TypedDict, total=False):
    """The JSON line of the child process: an error, or the format and size in pixels."""

    error: str
    kind: str
    width: int
    height: int


@dataclass(frozen=True)
class ReencodedImage:
    """A picture after re-encoding."""

    data: bytes
    extension: str
    width: int
    height: int


@dataclass(frozen=True)
class Crop:
    """The part of a picture to keep: its ratio and largest size in pixels, and where it is.

    `across` and `down` are 0 for the left or upper end and 1 for the other one.
    """

    width: int
    height: int
    across: float = 0.5
    down: float = 0.5


def reencode_image(data: bytes, crop: Crop | None = None) -> ReencodedImage:
    """Return the picture, or a part of it, with nothing but its pixels.

    Raises ImageTooLarge, ImageKindUnsupported, ImageTooManyPixels, ImageUnreadable.
    """
    if len(data) > MAX_BYTES:
        raise ImageTooLarge()
    report, body = _run_subprocess(data, crop)
    error = report.get("error")
    if error == "kind":
        raise ImageKindUnsupported()
    if error == "size":
        raise ImageTooManyPixels(width=report["width"], height=report["height"])
    if error is not None:
        raise ImageUnreadable()
    return ReencodedImage(body, EXTENSIONS[report["kind"]], report["width"], report["height"])


def _run_subprocess(data: bytes, crop: Crop | None) -> tuple[ImageReport, bytes]:
    """Return the child's report and the new file; the error is `broken` when the child crashed or hung."""
    command = [sys.executable, "-I", str(CHILD), str(MAX_PIXELS), str(MAX_SIDE)]
    if crop is not None:
        command += [str(crop.width), str(crop.height), str(crop.across), str(crop.down)]
    try:
        with _one_at_a_time:
            process = subprocess.run(command, input=data, capture_output=True, timeout=SECONDS, env={}, check=True)
    except (subprocess.TimeoutExpired, subprocess.CalledProcessError):
        return {"error": "broken"}, b""
    report_line, _, body = process.stdout.partition(b"\n")
    report: ImageReport = json.loads(report_line)
    return report, body
