"""Decodes one picture and writes it anew, in a process of its own. Run by `app.core.images`, imported by nobody.

Standard input is the file. Standard output is one line of JSON, and after it the new file. What a hostile picture
makes of this process ends with it: its memory and time are limited before the first byte is looked at.
"""

import io
import json
import sys

MEGABYTE = 1024 * 1024
MEMORY, MEMORY_FOR_WEBP = 512 * MEGABYTE, 1280 * MEGABYTE
CPU_SECONDS = 10
FORMATS = ("JPEG", "PNG", "WEBP")


def limit() -> None:
    """Bounds what this process may take. Systems without such limits still have the parent's clock."""
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY_FOR_WEBP))
    except (ImportError, ValueError, OSError):
        pass


def allow_for_webp() -> None:
    """Lets WebP have what its encoder needs for 40 megapixels with transparency: more than twice the others' need."""
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_FOR_WEBP, MEMORY_FOR_WEBP))
    except (ImportError, ValueError, OSError):
        pass


def main(max_pixels: int, max_side: int) -> tuple[dict[str, object], bytes]:
    """What is said about the picture, and its new bytes."""
    from PIL import Image, ImageOps, UnidentifiedImageError

    Image.MAX_IMAGE_PIXELS = None  # The header is compared with our own bound, before anything is decoded.
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
    written = io.BytesIO()
    if kind == "PNG":
        picture.save(written, "PNG", compress_level=6)
    else:
        picture.save(written, kind, quality=88, **({"method": 2} if kind == "WEBP" else {"optimize": False}))
    return {"kind": kind, "width": picture.width, "height": picture.height}, written.getvalue()


if __name__ == "__main__":
    limit()
    try:
        said, data = main(int(sys.argv[1]), int(sys.argv[2]))
    except MemoryError:
        said, data = {"error": "memory"}, b""
    except Exception:
        said, data = {"error": "broken"}, b""
    sys.stdout.buffer.write(json.dumps(said).encode() + b"\n" + data)
