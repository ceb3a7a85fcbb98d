"""The settings of a sound production, to break one by one."""

import socket
from dataclasses import replace
from pathlib import Path

import pytest
from flask import Flask

from app.config import Settings
from tests.observing.ward import STRONG


@pytest.fixture
def settings(app: Flask, tmp_path: Path) -> Settings:
    """Those of a sound production."""
    ours: Settings = app.extensions["settings"]
    return replace(
        ours,
        APP_ENV="production",
        SECRET_KEY=STRONG,
        BOOTSTRAP_SECRET=None,
        PUBLIC_BASE_URL="https://tickets.example.com",
        TRUSTED_HOSTS=["tickets.example.com"],
        PROXY_HOPS=1,
        MAIL_FROM="Lights <no-reply@example.com>",
    )


@pytest.fixture
def closed_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])
