"""Which file holds what."""

from pathlib import Path

from clients.generate import postman, python, typescript
from clients.generate.contract import Contract

FOLDER = Path(__file__).resolve().parents[1]


def made(contract: Contract) -> dict[Path, str]:
    """Every generated file and its content."""
    return {
        FOLDER / "typescript" / "event-commerce.ts": typescript.source(contract),
        FOLDER / "python" / "event_commerce" / "operations.py": python.source(contract),
        FOLDER / "postman.json": postman.source(contract),
    }
