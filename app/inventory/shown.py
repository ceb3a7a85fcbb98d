"""How rows of the stock go out where no list shows them."""

from collections.abc import Mapping
from typing import Any


def movement_shown(row: Mapping[str, Any]) -> dict[str, Any]:
    """A movement with an id of the usual form; it follows the order in which movements were recorded."""
    return {**row, "id": f"{row['seq']:024x}"}
