"""Links to a place on OpenStreetMap."""

from collections.abc import Iterable
from urllib.parse import urlencode

MAP_URL = "https://www.openstreetmap.org"
ZOOM = 17


def build_map_link(latitude: float | None, longitude: float | None, address: Iterable[str]) -> str:
    """Return the address of a map with a mark at the coordinates; without them, of a search for the address."""
    if latitude is None or longitude is None:
        return f"{MAP_URL}/search?{urlencode({'query': ', '.join(address)})}"
    return f"{MAP_URL}/?mlat={latitude:.6f}&mlon={longitude:.6f}#map={ZOOM}/{latitude:.6f}/{longitude:.6f}"
