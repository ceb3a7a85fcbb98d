"""Pictures: pixels survive, everything else is refused or gone, and hostile files end quickly."""

import io
import resource
import struct
import time
import zipfile
import zlib
from collections.abc import Callable

import pytest
from PIL import Image

from app.core import images
from app.core.errors import AppError
from tests.timing import assert_in_time

GPS = 0x8825


def picture(kind: str = "JPEG", size: tuple[int, int] = (60, 40), **options: object) -> bytes:
    """A small picture of one colour."""
    out = io.BytesIO()
    Image.new("RGB", size, (200, 30, 30)).save(out, kind, **options)
    return out.getvalue()


def png_claiming(width: int, height: int) -> bytes:
    """A PNG whose header promises that size and whose data holds next to nothing."""

    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b"\0" * 99)) + chunk(b"IEND", b"")
    )


def zipped_behind(data: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("evil.html", "<script>alert(1)</script>")
    return data + out.getvalue()


@pytest.mark.parametrize(("kind", "extension"), [("JPEG", "jpg"), ("PNG", "png"), ("WEBP", "webp")])
def test_a_picture_is_reencoded_in_its_format(kind: str, extension: str) -> None:
    made = images.reencode_image(picture(kind))
    assert (made.width, made.height, made.extension) == (60, 40, extension)
    again = Image.open(io.BytesIO(made.data))
    assert again.format == kind and again.convert("RGB").getpixel((30, 20))[0] > 180


def test_metadata_is_removed() -> None:
    exif = Image.Exif()
    exif[GPS] = {1: "S", 2: (22.0, 33.0, 39.0)}
    exif[0x010F] = "Camera maker"
    made = images.reencode_image(picture(exif=exif, comment=b"secret comment"))
    assert not Image.open(io.BytesIO(made.data)).getexif()
    assert b"secret comment" not in made.data and b"Camera maker" not in made.data


def test_a_rotated_picture_is_turned_upright() -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    made = images.reencode_image(picture(exif=exif))
    assert (made.width, made.height) == (40, 60)


def test_appended_data_is_removed() -> None:
    made = images.reencode_image(zipped_behind(picture()))
    assert b"evil.html" not in made.data and b"PK\x03\x04" not in made.data


def test_transparency_is_kept() -> None:
    out = io.BytesIO()
    Image.new("RGBA", (10, 10), (0, 0, 0, 0)).save(out, "PNG")
    assert Image.open(io.BytesIO(images.reencode_image(out.getvalue()).data)).getpixel((5, 5))[3] == 0


def test_only_the_first_frame_is_kept() -> None:
    out = io.BytesIO()
    frames = [Image.new("RGB", (20, 20), (shade, 0, 0)) for shade in range(0, 250, 5)]
    frames[0].save(out, "WEBP", save_all=True, append_images=frames[1:])
    made = Image.open(io.BytesIO(images.reencode_image(out.getvalue()).data))
    assert getattr(made, "n_frames", 1) == 1


@pytest.mark.slow
def test_forty_megapixels_are_accepted_in_every_format() -> None:
    for kind in ("JPEG", "PNG", "WEBP"):
        made = images.reencode_image(picture(kind, (8000, 5000)))
        assert made.width * made.height == 40_000_000


@pytest.mark.slow
def test_forty_transparent_megapixels_fit_into_the_childs_memory() -> None:
    out = io.BytesIO()
    Image.new("RGBA", (8000, 5000), (200, 30, 30, 90)).save(out, "WEBP")
    assert images.reencode_image(out.getvalue()).width == 8000


def gif() -> bytes:
    return picture("GIF")


def svg() -> bytes:
    return b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'


def html() -> bytes:
    return b"<!doctype html><script>alert(1)</script>"


def tiff() -> bytes:
    return picture("TIFF")


def nothing() -> bytes:
    return b""


@pytest.mark.parametrize("hostile", [gif, svg, html, tiff, nothing])
def test_other_formats_are_refused(hostile: Callable[[], bytes]) -> None:
    with pytest.raises(images.ImageKindUnsupported):
        images.reencode_image(hostile())


@pytest.mark.parametrize("size", [(8200, 5000), (10_001, 10), (30_000, 30_000), (1, 10_001)])
def test_too_many_pixels_are_refused_by_the_header_alone(size: tuple[int, int]) -> None:
    started = time.monotonic()
    with pytest.raises(images.ImageTooManyPixels):
        images.reencode_image(png_claiming(*size))
    assert_in_time(time.monotonic() - started < 2)


def truncated() -> bytes:
    whole = picture(size=(400, 400), quality=95)
    return whole[: len(whole) // 2]


def lying_png() -> bytes:
    return png_claiming(6000, 6000)


def jpeg_of_noise() -> bytes:
    return picture()[:200] + bytes(range(256)) * 40


@pytest.mark.parametrize("broken", [truncated, lying_png, jpeg_of_noise])
def test_broken_pictures_are_refused_quickly(broken: Callable[[], bytes]) -> None:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with pytest.raises(AppError) as refused:
        images.reencode_image(broken())
    assert refused.value.status in (415, 422)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert_in_time(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 5)


def test_six_mebibytes_are_refused_before_decoding() -> None:
    with pytest.raises(images.ImageTooLarge):
        images.reencode_image(b"\xff\xd8" + bytes(6 * 1024 * 1024))


def test_a_picture_that_needs_too_much_memory_is_unreadable(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(images, "MAX_PIXELS", 10**9)
    monkeypatch.setattr(images, "MAX_SIDE", 10**5)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(images.ImageUnreadable):
        images.reencode_image(png_claiming(30_000, 30_000))
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 300 * 1024
