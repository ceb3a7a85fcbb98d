"""The document as the service serves it."""

from pathlib import Path

import orjson
import pytest
from flask import Flask

from tests.contract.document import Document

OPERATIONS = orjson.loads((Path(__file__).parent / "operations.json").read_bytes())


@pytest.fixture(scope="session")
def document(application: Flask) -> Document:
    return Document(application.test_client().get("/openapi.json").get_json())
