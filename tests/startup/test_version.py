"""The version: the same everywhere, and on the command line of an installed wheel."""

import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
from flask import Flask

from app.version import __version__
from tests.house.sources import ROOT
from tests.http import Client, data


def test_the_newest_heading_of_the_changelog_is_the_version() -> None:
    versions = re.findall(r"^## (\d+\.\d+\.\d+) \(\d{4}-\d\d-\d\d\)$", (ROOT / "CHANGELOG.md").read_text(), re.M)
    assert versions[0] == __version__ and len(versions) > 1


def test_the_wheel_has_the_same_version() -> None:
    assert tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"] == __version__


def test_health_and_the_document_show_the_version(app: Flask, client: Client) -> None:
    assert data(client.get("/health"))["version"] == __version__
    assert app.test_client().get("/openapi.json").get_json()["info"]["version"] == __version__


@pytest.mark.slow
def test_a_wheel_has_all_that_the_program_needs(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", str(tmp_path), str(ROOT)]
    subprocess.run(build, check=True, capture_output=True)
    (wheel,) = tmp_path.glob(f"event_commerce-{__version__}-*.whl")
    installed = tmp_path / "installed"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(installed)
        scripts = archive.read(f"event_commerce-{__version__}.dist-info/entry_points.txt").decode()
    assert "event-commerce = app.startup:main" in scripts
    for name in (
        "gunicorn.conf.py",
        "gunicorn_streams.conf.py",
        "wsgi.py",
        "migrations/env.py",
        "mock_rail/__main__.py",
        "app/templates/base.html",
        "docs/settings.md",
    ):
        assert (installed / name).is_file(), name
    command = [sys.executable, "-c", "from app.startup import main; main()"]
    for arguments in (["--version"], ["--help"]):
        said = subprocess.run([*command, *arguments], cwd=installed, capture_output=True, text=True, check=True).stdout
        assert (__version__ if arguments == ["--version"] else "doctor") in said
