"""The child process of `app.core.images`: decodes one picture and re-encodes it. No module imports it.

Standard input is the file. Standard output is one line of JSON, and after it the new file. Memory and time are limited
before the first byte is read, so a hostile picture harms only this process.
"""

import io
import json
import sys
from collections.abc import Sequence
from typing import Any

MEGABYTE = 1024 * 1024
MEMORY, MEMORY_FOR_WEBP = 512 * MEGABYTE, 1280 * MEGABYTE
CPU_SECONDS = 10
FORMATS = ("JPEG", "PNG", "WEBP")


def limit() -> None:
    """Limit the CPU time and memory of this process. On systems without such limits the parent's timeout remains."""
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY_FOR_WEBP))
    except (ImportError, ValueError, OSError):
        pass


def allow_for_webp() -> None:
    """Raise the memory limit for WebP: 40 megapixels with transparency need twice as much as in the other formats."""
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_FOR_WEBP, MEMORY_FOR_WEBP))
    except (ImportError, ValueError, OSError):
        pass


def crop(picture: Any, width: int, height: int, across: float, down: float) -> Any:
    """Return the largest part with the ratio of width and height, at most that large; `across` and `down` place it.

    0 keeps the left or the upper end, 1 the other one.
    """
    from PIL import ImageOps

    new_width = max(1, min(width, picture.width, picture.height * width // height))
    size = (new_width, max(1, new_width * height // width))
    return ImageOps.fit(picture, size, centering=(across, down))


def main(max_pixels: int, max_side: int, cropping: Sequence[str] = ()) -> tuple[dict[str, object], bytes]:
    """Return the report on the picture and its new bytes. `cropping` has the arguments of `crop`, if it is cropped."""
    from PIL import Image, ImageOps, UnidentifiedImageError

    Image.MAX_IMAGE_PIXELS = None  # We compare the header with our own limit before anything is decoded.
    try:
        picture: Image.Image = Image.open(io.BytesIO(sys.stdin.buffer.read()), formats=FORMATS)
    except UnidentifiedImageError:
        return {"error": "kind"}, b""
    kind, (width, height) = str(picture.format), picture.size
    if width * height > max_pixels or max(width, height) > max_side:
        return {"error": "size", "width": width, "height": height}, b""
    if kind == "WEBP":
        allow_for_webp()
    picture.seek(0)
    picture.load()
    picture = ImageOps.exif_transpose(picture)
    picture = picture.convert("RGBA" if kind != "JPEG" and picture.has_transparency_data else "RGB")
    picture.info.clear()
    if cropping:
        ratio, place = [int(part) for part in cropping[:2]], [float(part) for part in cropping[2:]]
        picture = crop(picture, *ratio, *place)
    output = io.BytesIO()
    if kind == "PNG":
        picture.save(output, "PNG", compress_level=6)
    else:
        picture.save(output, kind, quality=88, **({"method": 2} if kind == "WEBP" else {"optimize": False}))
    return {"kind": kind, "width": picture.width, "height": picture.height}, output.getvalue()


if __name__ == "__main__":
    limit()
    try:
        report, data = main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:])
    except MemoryError:
        report, data = {"error": "memory"}, b""
    except Exception:
        report, data = {"error": "broken"}, b""
    sys.stdout.buffer.write(json.dumps(report).encode() + b"\n" + data)
