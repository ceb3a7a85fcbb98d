"""Names of downloaded files, and the header that carries them."""

from urllib.parse import unquote

import pytest
from werkzeug.http import parse_options_header

from app.core.file_names import build_attachment_header, build_file_name


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        (("Windhoek Lights", "Anna Weber"), "windhoek-lights-anna-weber.pdf"),
        (("Windhoek Lights", ""), "windhoek-lights.pdf"),
        (("../../etc/passwd", '"; filename=x'), "etc-passwd-filename-x.pdf"),
        (("\U0001f525", "\u202egnp.exe\r\nX: y"), "gnp-exe-x-y.pdf"),
        (("Lüderitz", "ǃGaroës ǀUiǂkhoms"), "lüderitz-ǃgaroës-ǀuiǂkhoms.pdf"),
        (("!!!", "…"), "ticket.pdf"),
    ],
)
def test_file_is_named_after_its_parts(parts: tuple[str, ...], expected: str) -> None:
    assert build_file_name(*parts, extension="pdf", default="ticket") == expected


@pytest.mark.parametrize("letter", ["W", "ä", "黒", "ה"])
def test_name_fits_a_file_system(letter: str) -> None:
    name = build_file_name(letter * 200, letter * 200, extension="pdf", default="ticket")
    assert len(name.encode()) <= 255


@pytest.mark.parametrize(
    ("name", "plain"),
    [
        ("windhoek-lights-anna-weber.pdf", "windhoek-lights-anna-weber.pdf"),
        ("lüderitz-straße-zoë.pdf", "luderitz-strasse-zoe.pdf"),
        ("黒.pdf", "ticket.pdf"),
    ],
)
def test_header_has_a_plain_name_and_the_whole_one(name: str, plain: str) -> None:
    header = build_attachment_header(name)
    assert header.isascii() and header.startswith(f'attachment; filename="{plain}"')
    extended = header.partition("filename*=UTF-8''")[2]
    assert unquote(extended) == ("" if name.isascii() else name)
    assert parse_options_header(header)[1]["filename"] == name
