"""Pictures of a stall, which an applicant sends until the application is decided."""

from collections.abc import Mapping, Sequence

from app.applications import queries, states
from app.applications.actions.document_upload import save_documents, store_files
from app.applications.documents import PICTURE_KINDS, DocumentUpload
from app.applications.erasure import erase_documents
from app.applications.errors import AlreadyDecided
from app.applications.models import Application, ApplicationDocument
from app.core import images
from app.core.db import release_connection
from app.core.errors import ValidationFailed
from app.core.transaction import transaction
from app.media.actions import CONTENT_TYPES


def upload_pictures(*, application_id: str, files: Sequence[tuple[str, bytes]]) -> None:
    """Stores up to four pictures, given with their names, with nothing but their pixels, and removes the earlier ones.

    Raises ValidationFailed for none or too many, and for each picture that cannot be used, with its name as the message;
    AlreadyDecided unless the application waits for its decision, and StorageUnavailable.
    """
    if not files:
        raise ValidationFailed.of("pictures", "required", "Choose at least one picture.")
    if len(files) > len(PICTURE_KINDS):
        raise ValidationFailed.of("pictures", "too_many", f"Choose {len(PICTURE_KINDS)} pictures at most.")
    if queries.count_pictures(application_id) is None:
        raise AlreadyDecided()
    release_connection()
    uploads, problems = [], []
    for kind, (name, data) in zip(PICTURE_KINDS, files, strict=False):
        try:
            uploads.append(_build_upload(kind, data))
        except images.PROBLEMS as error:
            problems.append({"path": "pictures", "code": error.code, "message": name})
    if problems:
        raise ValidationFailed(problems)
    with store_files(application_id, uploads) as stored_names:
        _replace_pictures(application_id, uploads, stored_names)


def _build_upload(kind: str, data: bytes) -> DocumentUpload:
    picture = images.reencode_image(data)
    return DocumentUpload(kind, f"{kind}.{picture.extension}", picture.data, CONTENT_TYPES[picture.extension])


def _replace_pictures(application_id: str, uploads: Sequence[DocumentUpload], stored_names: Mapping[str, str]) -> None:
    with transaction() as session:
        application = session.get(Application, application_id, with_for_update=True)
        if application is None or application.status != states.SUBMITTED:
            raise AlreadyDecided()
        erase_documents(
            session,
            (ApplicationDocument.application_id == application_id) & ApplicationDocument.kind.in_(PICTURE_KINDS),
        )
        save_documents(session, application_id, uploads, stored_names)
        application.version += 1
