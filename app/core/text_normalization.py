"""Normalises text that people send, in Python and as SQL expressions for generated columns and indexes.

Invisible characters are removed from names of people, businesses and events: direction controls, zero-width characters, byte order marks, tag characters and all others that Unicode calls
default-ignorable. They can make one name look like another, reverse the text around it, or hide a message. They are not
refused, because people paste them without knowing and could not find them.

Real names need some of them, which stay: a joiner between letters of a joining script (Arabic, the Indic scripts and
similar ones) or after a virama, a joiner between the parts of an emoji, and one variation selector after a character
that can have one. Combining marks are never changed.
"""

import re
import unicodedata

CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
"""Control characters other than newline, carriage return and tab, and halves of characters."""


def normalize_text(text: str) -> str:
    """Return the text in NFC, with newlines as line ends and without surrounding blanks."""
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return (text if text.isascii() else unicodedata.normalize("NFC", text)).strip()


_ACCENTS = r"[\u0300-\u036f]"
_PUNCTUATION = r"[!-/:-@\[-`{-~\s]+"
# Letters that Unicode does not decompose into a base letter and an accent.
_UNDECOMPOSED, _BASE_LETTERS = "ŁØĐłøđħı", "lodlodhi"


def folded_sql(expression: str) -> str:
    """Return an immutable expression: the words of the text in lower case without accents, one blank between them."""
    return f"btrim(regexp_replace({unaccented_sql(expression)}, '{_PUNCTUATION}', ' ', 'g'))"


def unaccented_sql(expression: str) -> str:
    """Return an immutable expression: the text in lower case without accents; blanks and punctuation do not change."""
    decomposed = f"regexp_replace(lower(normalize({expression}, NFKD)), '{_ACCENTS}', '', 'g')"
    return f"replace(translate({decomposed}, '{_UNDECOMPOSED}', '{_BASE_LETTERS}'), 'ß', 'ss')"


# Default_Ignorable_Code_Point of DerivedCoreProperties.txt, line and paragraph separators, annotation marks.
INVISIBLE = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
NON_JOINER, JOINER = "\u200c", "\u200d"
JOINERS = (NON_JOINER, JOINER)
EMOJI_SELECTORS = "\ufe0e\ufe0f"
CJK_SELECTORS = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]")
MONGOLIAN_SELECTORS = re.compile("[\u180b-\u180f]")
JOINING_SCRIPTS = frozenset(
    {
        "ARABIC",
        "BALINESE",
        "BENGALI",
        "DEVANAGARI",
        "GUJARATI",
        "GURMUKHI",
        "JAVANESE",
        "KANNADA",
        "KHMER",
        "MALAYALAM",
        "MANDAIC",
        "MEETEI",
        "MONGOLIAN",
        "MYANMAR",
        "NKO",
        "ORIYA",
        "PHAGS-PA",
        "SINHALA",
        "SYRIAC",
        "TAMIL",
        "TELUGU",
        "TIBETAN",
    }
)
VIRAMA = 9
MAX_FILE_NAME_LENGTH = 200
_INVISIBLE = re.compile(f"[{INVISIBLE}]")
_NEEDS_CONTEXT = re.compile("[\u180b-\u180f\u200c\u200d\ufe00-\ufe0f\U000e0100-\U000e01ef]")


def clean_file_name(name: str) -> str | None:
    """The name of a sent file without folders and special characters, at most 200 long; None if nothing is left."""
    base_name = re.split(r"[/\\]", name)[-1]
    base_name = "".join(
        character for character in base_name if character.isprintable() and character not in '<>:"|?*'
    ).strip(" .")
    return base_name[:MAX_FILE_NAME_LENGTH] or None


def clean_name(text: str) -> str:
    """The name without invisible characters, and without blanks around it."""
    if text.isascii() or not _INVISIBLE.search(text):
        return text
    text = _INVISIBLE.sub(lambda result: result[0] if _NEEDS_CONTEXT.match(result[0]) else "", text)
    kept: list[str] = []
    for at, character in enumerate(text):
        before, after = "".join(kept[-1:]), text[at + 1 : at + 2]
        if not _NEEDS_CONTEXT.match(character) or _is_needed(character, before, after):
            kept.append(character)
    return "".join(kept).strip()


def _is_needed(character: str, before: str, after: str) -> bool:
    """Whether a joiner or variation selector has a meaning between these two characters ("" at an end)."""
    if not before:
        return False
    if character in JOINERS:
        between_letters = _script(before) in JOINING_SCRIPTS and _script(after) == _script(before)
        between_emoji = character == JOINER and _is_emoji_part(before) and _category(after) == "So"
        return between_letters or between_emoji or unicodedata.combining(before) == VIRAMA
    if character in EMOJI_SELECTORS and _category(before) == "So":
        return True
    if MONGOLIAN_SELECTORS.match(character):
        return _script(before) == "MONGOLIAN"
    return bool(CJK_SELECTORS.match(character)) and unicodedata.name(before, "").startswith("CJK")


def _script(character: str) -> str:
    """The first word of a letter's or mark's name, which is its script; "" for anything else."""
    return unicodedata.name(character, "").partition(" ")[0] if _category(character)[:1] in ("L", "M") else ""


def _is_emoji_part(character: str) -> bool:
    return character in EMOJI_SELECTORS or _category(character) in ("So", "Sk")


def _category(character: str) -> str:
    return unicodedata.category(character) if character else ""


def to_camel_case(name: str) -> str:
    """The name of a property in JSON: `startsAt` for `starts_at`."""
    head, *rest = name.split("_")
    return head + "".join(word.capitalize() for word in rest)
