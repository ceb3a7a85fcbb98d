"""Templates: nothing inline, nothing from elsewhere, everything escaped."""

import re

import pytest

from tests.house.sources import ROOT, files, name

PAGES = [path for path in files("app/templates", suffix=".html") if "email" not in path.parts]
RULES = {
    # Browsers do not run a block of data, so the policy of the pages allows it.
    "an inline script": r"<script(?![^>]*\ssrc=|\stype=\"application/ld\+json\">)",
    "an inline style": r"<style|\sstyle\s*=",
    "an inline handler": r"\son[a-z]+\s*=",
    "a script in an address": r"javascript:",
    "something from elsewhere": r"""(?:src|href|action|poster|srcset)\s*=\s*["']?\s*(?:https?:)?//""",
    "text that is not escaped": r"\|\s*safe\b|autoescape\s+false|Markup\(",
}


@pytest.mark.parametrize("rule", RULES)
def test_no_page_has(rule: str) -> None:
    broken = [name(path) for path in PAGES if re.search(f"(?i){RULES[rule]}", path.read_text())]
    assert broken == [], rule


def test_stylesheets_and_scripts_load_nothing_from_other_hosts() -> None:
    for suffix in (".css", ".js"):
        for path in files("app/static", suffix=suffix):
            # The address of the decoder's own default host is never used: the page says where the file is.
            if path.is_relative_to(ROOT / "app" / "static" / "vendor"):
                continue
            assert not re.search(r"(?i)@import|url\(\s*['\"]?(?:https?:)?//|https?://", path.read_text()), name(path)


def test_mails_load_nothing() -> None:
    """But the one picture that an organiser chose for a campaign, which is the same for all whom it goes to."""
    chosen = '<img class="picture" src="{{ image_url }}" width="544" alt="">'
    for path in files("app/templates/email", suffix=".html"):
        text = path.read_text().replace(chosen, "", 1 if path.stem == "campaign" else 0)
        assert not re.search(r"(?i)<script|<img(?! src=.cid:)|<link\b|@import|url\(", text), name(path)
