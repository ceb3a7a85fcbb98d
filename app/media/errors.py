"""The errors of an upload."""

from app.clients.storage import StorageUnavailable
from app.core.errors import AppError, Throttled
from app.core.images import ImageKindUnsupported, ImageTooLarge, ImageTooManyPixels, ImageUnreadable

UPLOAD_ERRORS: list[type[AppError]] = [
    ImageTooLarge,
    ImageKindUnsupported,
    ImageTooManyPixels,
    ImageUnreadable,
    Throttled,
    StorageUnavailable,
]
