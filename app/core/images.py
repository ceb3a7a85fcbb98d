"""Pictures that strangers send: checked, decoded and written anew, so that only pixels remain.

Decoding happens in a child process with bounded memory and time, one at a time in each process: a picture that
would blow up or hang takes down its child and nothing else. Pillow sees only the three formats, by content and
never by name; the header's size is compared before anything is decoded; only the first frame counts; metadata
(position, camera, profile, comments, whatever is glued to the end) is not written.
"""

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from threading import BoundedSemaphore

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


@dataclass(frozen=True)
class ReencodedImage:
    """A picture written anew."""

    data: bytes
    extension: str
    width: int
    height: int


def reencode_image(data: bytes) -> ReencodedImage:
    """The picture in `data` without anything but its pixels.

    Raises ImageTooLarge, ImageKindUnsupported, ImageTooManyPixels, ImageUnreadable.
    """
    if len(data) > MAX_BYTES:
        raise ImageTooLarge()
    said, body = _run_subprocess(data)
    error = said.get("error")
    if error == "kind":
        raise ImageKindUnsupported()
    if error == "size":
        raise ImageTooManyPixels(width=said["width"], height=said["height"])
    if error is not None:
        raise ImageUnreadable()
    return ReencodedImage(body, EXTENSIONS[str(said["kind"])], int(str(said["width"])), int(str(said["height"])))


def _run_subprocess(data: bytes) -> tuple[dict[str, object], bytes]:
    """What the child says; a child that died or hung says that the picture is broken."""
    command = [sys.executable, "-I", str(CHILD), str(MAX_PIXELS), str(MAX_SIDE)]
    try:
        with _one_at_a_time:
            done = subprocess.run(command, input=data, capture_output=True, timeout=SECONDS, env={}, check=True)
    except (subprocess.TimeoutExpired, subprocess.CalledProcessError):
        return {"error": "broken"}, b""
    head, _, body = done.stdout.partition(b"\n")
    return json.loads(head), body
