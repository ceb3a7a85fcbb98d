"""Reading a picture."""

from app.clients import storage
from app.core.errors import NotFound
from app.media.kinds import KINDS, NAME


def kind_of(name: str) -> str:
    """The content type of a picture of that name. Raises NotFound for what is no picture's name."""
    found = NAME.fullmatch(name)
    if found is None:
        raise NotFound()
    return KINDS[found[1]]


def picture(name: str) -> bytes:
    """The bytes of a picture. Raises NotFound, StorageUnavailable."""
    data = storage.get(f"media/{name}")
    if data is None:
        raise NotFound()
    return data
