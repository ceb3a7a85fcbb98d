"""What `make site` does beyond mkdocs: pages of the top level join the site, and paths of source files are no links."""

import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[1]
PAGES = ("CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "clients/README.md")
OUTWARD = re.compile(r"\]\((?:\.\./)+(CHANGELOG\.md|CONTRIBUTING\.md|SECURITY\.md|clients/README\.md)")
SOURCE = re.compile(r"\[([^\]]+)\]\((?:\.\./)+(?:app|tests|deploy|benchmarks|LICENSE|clients/package)[^)]*\)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds the pages of the top level."""
    for name in PAGES:
        files.append(File.generated(config, name, abs_src_path=str(ROOT / name)))
    return files


def on_page_markdown(markdown: str, page, **_: object) -> str:  # type: ignore[no-untyped-def]
    """The page with links that lead inside the site."""
    up = "../" * page.file.src_uri.count("/")
    if page.file.src_uri in PAGES:
        markdown = re.sub(r"\]\((?:\.\./)?docs/", f"]({up}", markdown)
        markdown = re.sub(r"\]\((?!https?:|#|docs/)(?:\.\./)?(LICENSE|app/|tests/)[^)]*\)", "]", markdown)
    markdown = OUTWARD.sub(lambda match: f"]({up}{match[1]}", markdown)
    return SOURCE.sub(r"\1", markdown)
