"""The documentation as a web site: every link leads somewhere, and nothing is loaded from elsewhere."""

import re
import subprocess
from pathlib import Path

from tests.house.sources import ROOT


def test_the_site_builds_without_a_broken_link(tmp_path: Path) -> None:
    built = subprocess.run(
        ["make", "-s", "site", f"DIST={tmp_path}"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert built.returncode == 0, built.stdout + built.stderr
    page = (tmp_path / "site" / "index.html").read_text()
    assert "Documentation" in page
    assert list((tmp_path / "site").rglob("*.pyc")) == []
    assert re.findall(r'<(?:script|img)[^>]+src="https?:|<link[^>]+rel="stylesheet"[^>]+href="https?:', page) == []
