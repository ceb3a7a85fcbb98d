"""Settings for applications under test."""

import atexit
import os
import shutil
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from flask import Flask

from app import create_app
from app.config import Settings, load
from tests.leaks.ledger import RUN

SECRET_KEY = "a-key-that-only-tests-know-0123456789abcdef"
BOOTSTRAP_SECRET = "bootstrap-secret-of-the-tests"


NOWHERE = "/nonexistent"
MOCK_RAIL_URL = "TEST_MOCK_RAIL_URL"
"""The variable with the address of the mock rail of this test worker."""
METRICS_DIR = Path(mkdtemp(prefix="event-commerce-metrics-"))
atexit.register(shutil.rmtree, METRICS_DIR, ignore_errors=True)


def settings_for(*, database_url: str, redis_url: str, data_dir: Path | str = NOWHERE, **variables: str) -> Settings:
    return load(
        {
            "APP_ENV": "development",
            "SECRET_KEY": SECRET_KEY,
            "DATABASE_URL": database_url,
            "REDIS_URL": redis_url,
            "DATA_DIR": str(data_dir),
            "METRICS_DIR": str(METRICS_DIR if data_dir == NOWHERE else Path(data_dir) / "metrics"),
            "BOOTSTRAP_SECRET": BOOTSTRAP_SECRET,
            "RATE_LIMIT_SCALE": "1",
            "DATABASE_POOL": "20",
            "PUBLIC_BASE_URL": "http://localhost:8000",
            "PAYRAIL_MODE": "mock",
            "PAYRAIL_URL": os.environ.get(MOCK_RAIL_URL, ""),
            **variables,
        }
    )


RUN.add(SECRET_KEY, BOOTSTRAP_SECRET)


def app_for(**options: Any) -> Flask:
    app = create_app(settings_for(**options))
    app.testing = True
    return app
