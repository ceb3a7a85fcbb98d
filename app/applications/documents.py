"""Documents of applications: the required kinds, the check of an upload, and the links to read one."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime
from io import BytesIO

from flask import current_app
from PIL import Image, UnidentifiedImageError

from app.applications.errors import DocumentKindUnsupported, DocumentTooLarge
from app.core.languages import mark_for_translation
from app.core.text_normalization import clean_file_name
from app.core.tokens import DownloadGrant, opaque_token, sign_download_token, verify_download_token

LABELS = {
    "identity": mark_for_translation("Identity document"),
    "business_registration": mark_for_translation("Business registration"),
    "tax_clearance": mark_for_translation("Tax clearance certificate"),
    "food_safety": mark_for_translation("Food safety certificate"),
}
KINDS = tuple(LABELS)
ALWAYS_REQUIRED_KINDS = KINDS[:3]
PICTURE_KINDS = ("picture_1", "picture_2", "picture_3", "picture_4")
"""Pictures of the stall: stored like documents, and never listed among them."""
MAX_BYTES = 10 * 1024 * 1024
FILE_EXTENSIONS = {"application/pdf": "pdf", "image/jpeg": "jpg", "image/png": "png"}
IMAGE_STARTS = (b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n")
DOCUMENT_STARTS = (b"%PDF-", *IMAGE_STARTS)
"""How a file begins that is a document, or a damaged one."""
READ_PURPOSE = "document-read"
_FOOD_PATTERN = re.compile(
    r"\b(food|foods|kapana|braai|grill\w*|kitchen|cater\w*|baker\w*|bread|cake\w*|snack\w*|coffee|tea|drink\w*|"
    r"beverage\w*|juice\w*|beer\w*|wine\w*|bar|restaurant\w*|cuisine|meat|fish|fruit\w*|pizza|burger\w*|ice cream)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class UploadedDocument:
    """A stored document without its bytes; `size` is in bytes.

    `carried_from` is the reference of the earlier application that it comes from. `asked_again_at` and
    `asked_again_reason` are set if a decider wants another file in its place; `opened_at` once a decider opened the file,
    `accepted_at` once one accepted it.
    """

    id: str
    kind: str
    file_name: str
    content_type: str
    size: int
    uploaded_at: datetime
    expires_on: date | None = None
    carried_from: str | None = None
    asked_again_at: datetime | None = None
    asked_again_reason: str | None = None
    opened_at: datetime | None = None
    accepted_at: datetime | None = None

    def counts_on(self, last_day: date) -> bool:
        """Whether the document counts for an event that ends on that day."""
        return self.asked_again_at is None and is_valid_on(last_day, self.expires_on)


@dataclass(frozen=True)
class DocumentUpload:
    """A checked file with its content type."""

    kind: str
    name: str
    data: bytes
    content_type: str
    expires_on: date | None = None


def list_required_kinds(stall_type: str | None) -> list[str]:
    """The kinds that are required by default; food stalls need one more."""
    return list(KINDS if stall_type and _FOOD_PATTERN.search(stall_type) else ALWAYS_REQUIRED_KINDS)


def is_valid_on(last_day: date, expires_on: date | None) -> bool:
    """Whether a document is valid up to that day. One without a day of expiry is."""
    return expires_on is None or expires_on >= last_day


def list_missing_kinds(required_kinds: Iterable[str], present_kinds: Iterable[str]) -> list[str]:
    present_set = set(present_kinds)
    return [kind for kind in required_kinds if kind not in present_set]


def check_document(kind: str, name: str, data: bytes, expires_on: date | None = None) -> DocumentUpload:
    """The file, if it is a document by its content. Raises DocumentTooLarge, DocumentKindUnsupported."""
    if len(data) > MAX_BYTES:
        raise DocumentTooLarge(kind=kind, max_bytes=MAX_BYTES)
    content_type = _detect_pdf(data) or _detect_image(data)
    if content_type is None:
        raise DocumentKindUnsupported(kind=kind, accepted=list(FILE_EXTENSIONS))
    return DocumentUpload(kind, _clean_file_name(name, kind, content_type), data, content_type, expires_on)


def build_stored_name(application_id: str) -> str:
    """A new random name for a file, outside the public files."""
    return f"private/applications/{application_id}/{opaque_token()}"


def build_read_url(document_id: str, viewer_id: str) -> tuple[str, int]:
    """A URL by which this session or key of a decider can read this document for five minutes.

    Next to it its end in seconds since the epoch.
    """
    token, expires_epoch = sign_download_token(READ_PURPOSE, document_id, viewer_id)
    return (
        f"{current_app.extensions['settings'].PUBLIC_BASE_URL}/api/merchant-applications/files/{token}",
        expires_epoch,
    )


def verify_read_token(token: str) -> DownloadGrant | None:
    """The grant in a token; None if the token is not valid."""
    return verify_download_token(READ_PURPOSE, token)


def _detect_pdf(data: bytes) -> str | None:
    """PDF readers look for the header in the first kilobyte and for the trailer at the end; so does this check."""
    has_pdf_markers = (
        re.search(rb"%PDF-[12]\.[0-9]", data[:1024]) and b"startxref" in data[-2048:] and b"%%EOF" in data[-1024:]
    )
    return "application/pdf" if has_pdf_markers else None


def _detect_image(data: bytes) -> str | None:
    """Reads only the header. The image is not decoded, so a decompression bomb does no harm."""
    if not data.startswith(IMAGE_STARTS):
        return None
    try:
        with Image.open(BytesIO(data), formats=("JPEG", "PNG")) as image:
            return Image.MIME.get(str(image.format))
    except (UnidentifiedImageError, OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        return None


def _clean_file_name(name: str, kind: str, content_type: str) -> str:
    """The file name without folders and special characters, with the extension of its content type."""
    base_name = clean_file_name(name) or ""
    stem = base_name.rpartition(".")[0] or base_name or kind
    return f"{stem[:120]}.{FILE_EXTENSIONS[content_type]}"
