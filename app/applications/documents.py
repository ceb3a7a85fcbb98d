"""Documents: which are required, what counts as one, and who may read it for how long."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from io import BytesIO

from flask import current_app
from PIL import Image, UnidentifiedImageError

from app.applications.errors import DocumentKindUnsupported, DocumentTooLarge
from app.core.permits import Permit, permit, permitted

LABELS = {
    "identity": "Identity document",
    "business_registration": "Business registration",
    "tax_clearance": "Tax clearance certificate",
    "food_safety": "Food safety certificate",
}
KINDS = tuple(LABELS)
ALWAYS = KINDS[:3]
MAX_BYTES = 10 * 1024 * 1024
ENDINGS = {"application/pdf": "pdf", "image/jpeg": "jpg", "image/png": "png"}
PURPOSE = "document-read"
_FOOD = re.compile(
    r"\b(food|foods|kapana|braai|grill\w*|kitchen|cater\w*|baker\w*|bread|cake\w*|snack\w*|coffee|tea|drink\w*|"
    r"beverage\w*|juice\w*|beer\w*|wine\w*|bar|restaurant\w*|cuisine|meat|fish|fruit\w*|pizza|burger\w*|ice cream)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Sent:
    """A file as it was sent, and what it is."""

    kind: str
    name: str
    data: bytes
    content_type: str


def required_of(stall_type: str | None) -> list[str]:
    """What has to be handed in unless the deciders say otherwise: food stalls need one more."""
    return list(KINDS if stall_type and _FOOD.search(stall_type) else ALWAYS)


def missing(required: Iterable[str], present: Iterable[str]) -> list[str]:
    there = set(present)
    return [kind for kind in required if kind not in there]


def checked(kind: str, name: str, data: bytes) -> Sent:
    """The file, if it is a document by its content. Raises DocumentTooLarge, DocumentKindUnsupported."""
    if len(data) > MAX_BYTES:
        raise DocumentTooLarge(kind=kind, max_bytes=MAX_BYTES)
    content_type = _is_pdf(data) or _is_picture(data)
    if content_type is None:
        raise DocumentKindUnsupported(kind=kind, accepted=list(ENDINGS))
    return Sent(kind, _name(name, kind, content_type), data, content_type)


def reading_link(document_id: str, viewer_id: str) -> tuple[str, int]:
    """An address under which this decider reads this document for five minutes, and when it ends (epoch)."""
    token, ends = permit(PURPOSE, document_id, viewer_id)
    return f"{current_app.extensions['settings'].PUBLIC_BASE_URL}/api/merchant-applications/files/{token}", ends


def reading_of(token: str) -> Permit | None:
    """What a token permits; None when it is not one that we gave."""
    return permitted(PURPOSE, token)


def _is_pdf(data: bytes) -> str | None:
    """Readers look for the marks within a kilobyte of either end, and so do we."""
    whole = re.search(rb"%PDF-[12]\.[0-9]", data[:1024]) and b"startxref" in data[-2048:] and b"%%EOF" in data[-1024:]
    return "application/pdf" if whole else None


def _is_picture(data: bytes) -> str | None:
    """Reads the header alone: nothing is decoded here, so nothing can blow up."""
    if not data.startswith((b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n")):
        return None
    try:
        with Image.open(BytesIO(data), formats=("JPEG", "PNG")) as picture:
            return Image.MIME.get(str(picture.format))
    except (UnidentifiedImageError, OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        return None


def _name(name: str, kind: str, content_type: str) -> str:
    """The name as a person gave it, without its folders, and with the ending that is true."""
    plain = re.split(r"[/\\]", name)[-1]
    plain = "".join(item for item in plain if item.isprintable() and item not in '<>:"|?*').strip(" .")
    stem = plain.rpartition(".")[0] or plain or kind
    return f"{stem[:120]}.{ENDINGS[content_type]}"
