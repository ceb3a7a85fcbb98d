"""Films for the fake camera of Chromium, of real QR codes: lying flat, bent, in the dark, and as the ticket's PDF has them."""

import io
import math
import subprocess
from pathlib import Path

import segno
from PIL import Image, ImageChops, ImageEnhance

SIZE = (1280, 720)
Corners = list[tuple[int, int]]
FLAT: Corners = [(490, 210), (790, 210), (790, 510), (490, 510)]
TILTED: Corners = [(560, 150), (830, 260), (700, 560), (420, 410)]
PAGE: Corners = [(190, 40), (1090, 60), (1080, 690), (200, 670)]
BENT: Corners = [(470, 190), (800, 215), (785, 520), (490, 500)]
FAR: Corners = [(600, 300), (700, 305), (698, 405), (597, 400)]


def draw_code(text: str) -> Image.Image:
    """A QR code with its quiet zone, as on a ticket."""
    png = io.BytesIO()
    segno.make_qr(text, error="q").save(png, kind="png", scale=12, border=4)
    return Image.open(png).convert("RGB")


def render_pdf(pdf: bytes, folder: Path) -> Image.Image:
    """The upper half of the first page of a PDF, as a printer or a screen shows it."""
    (folder / "ticket.pdf").write_bytes(pdf)
    subprocess.run(["pdftoppm", "-r", "110", "-png", "-singlefile", "ticket.pdf", "ticket"], cwd=folder, check=True)
    page = Image.open(folder / "ticket.png").convert("RGB")
    return page.crop((0, 0, page.width, page.height // 2))


def bend(picture: Image.Image, pixels: int) -> Image.Image:
    """A picture on paper that is not flat: its middle hangs down."""
    width, height = picture.size
    bent = Image.new("RGB", (width, height + pixels), "white")
    for x in range(width):
        bent.paste(picture.crop((x, 0, x + 1, height)), (x, int(pixels * math.sin(math.pi * x / width))))
    return bent


def photograph(picture: Image.Image, corners: Corners, *, brightness: float = 1, noise: int = 0) -> Image.Image:
    """What a camera sees of a picture whose corners are there."""
    scene = Image.linear_gradient("L").resize(SIZE).convert("RGB")
    width, height = picture.size
    matrix = _solve_perspective([(0, 0), (width, 0), (width, height), (0, height)], corners)
    seen = picture.transform(SIZE, Image.Transform.PERSPECTIVE, matrix, Image.Resampling.BICUBIC)
    mask = Image.new("L", picture.size, 255).transform(SIZE, Image.Transform.PERSPECTIVE, matrix)
    scene.paste(seen, (0, 0), mask)
    scene = ImageEnhance.Brightness(scene).enhance(brightness)
    return ImageChops.add(scene, Image.effect_noise(SIZE, noise).convert("RGB"), 1, -128) if noise else scene


def write_film(path: Path, *pictures: Image.Image, frames: int = 45) -> Path:
    """Write a film of the pictures, one after the other, with an empty scene between; the camera repeats it."""
    empty = Image.linear_gradient("L").resize(SIZE).convert("RGB")
    with path.open("wb") as film:
        for picture in pictures:
            for scene, count in ((empty, 10), (picture, frames)):
                jpeg = io.BytesIO()
                scene.save(jpeg, "JPEG", quality=85)
                film.write(jpeg.getvalue() * count)
    return path


def _solve_perspective(source: Corners, target: Corners) -> list[float]:
    """The eight numbers of Pillow's perspective transform, by Gauss elimination."""
    rows: list[list[float]] = []
    for (u, v), (x, y) in zip(source, target, strict=True):
        rows.append([x, y, 1, 0, 0, 0, -u * x, -u * y, u])
        rows.append([0, 0, 0, x, y, 1, -v * x, -v * y, v])
    for column in range(8):
        pivot = max(range(column, 8), key=lambda row: abs(rows[row][column]))
        rows[column], rows[pivot] = rows[pivot], rows[column]
        for row in range(8):
            if row != column:
                factor = rows[row][column] / rows[column][column]
                rows[row] = [left - factor * right for left, right in zip(rows[row], rows[column], strict=True)]
    return [rows[row][8] / rows[row][row] for row in range(8)]
