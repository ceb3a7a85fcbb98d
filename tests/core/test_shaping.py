"""Right-to-left names on paper: joined, in the order of reading, and everything else as it was."""

import pytest
from reportlab.pdfbase import pdfmetrics

from app.core.pdf import REGULAR, register
from app.core.shaping import joined, ordered, shaped


@pytest.mark.parametrize("text", ["", "Windhoek Lager 330 ml", "ǃGaroës Ξένιος Москва (2)", "▫ 12.5%"])
def test_what_runs_to_the_right_stays(text: str) -> None:
    assert shaped(text) == text


@pytest.mark.parametrize(
    ("text", "drawn"),
    [
        ("שלום", "םולש"),
        ("שלום 123", "123 םולש"),
        ("מחיר 1.5, סוף", "ףוס ,1.5 ריחמ"),
        ("Lager שלום Bar", "Lager םולש Bar"),
        ("שלום Lager בר", "רב Lager םולש"),
        ("(שלום)", "(םולש)"),
        ("Tent 3 שלום", "Tent 3 םולש"),
    ],
)
def test_runs_stand_in_the_order_of_reading(text: str, drawn: str) -> None:
    assert ordered(text) == drawn


def test_arabic_letters_join() -> None:
    assert joined("بيرة") == "\ufe91\ufef4\ufeae\ufe93".replace("\ufe93", "\ufe93")
    assert joined("ب") == "\ufe8f" and joined("سلام") == "\ufeb3\ufefc\ufee1"
    assert shaped("بيرة") == "\ufe93\ufeae\ufef4\ufe91"


def test_the_typeface_has_every_form_that_is_drawn() -> None:
    register()
    has = pdfmetrics.getFont(REGULAR).face.charWidths
    letters = "ابتثجحخدذرزسشصضطظعغفقكلمنهويىةءآأؤإئ"
    assert all(ord(each) in has for each in joined(" ".join(letters) + "".join(letters * 2)))
