"""Mail to others leaves in one way only, and the documentation names each kind of it."""

import ast

from app.core.jobs import registered
from tests.house.sources import ROOT

TO_THE_ACCOUNT_ITSELF = {"accounts", "merchants", "payouts"}
ELSEWHERE = {
    "app/applications/jobs.py": "tells the organiser, beside its mail to others",
    "app/campaigns/delivering.py": "asks for the organiser's verified address in the query that every message makes",
}


def sends(source: str) -> bool:
    """Whether a module imports what sends a mail."""
    imports = [each for each in ast.walk(ast.parse(source)) if isinstance(each, ast.ImportFrom)]
    return any((each.module, name.name) in SENDING for each in imports for name in each.names)


SENDING = {("app.clients.mail", "send"), ("app.clients", "mail")}


def test_only_one_way_leads_to_other_peoples_mailboxes() -> None:
    files = {str(path.relative_to(ROOT)): path for path in (ROOT / "app").rglob("*.py")}
    found = {name for name, path in files.items() if sends(path.read_text("utf-8"))}
    assert {each for each in found if each.split("/")[1] not in TO_THE_ACCOUNT_ITSELF} == set(ELSEWHERE)


def test_the_table_of_mails_to_others_is_whole() -> None:
    page = (ROOT / "docs" / "security.md").read_text("utf-8")
    kinds = {each.kind for each in registered() if each.to_others}
    assert {each for each in kinds if f"| `{each}` |" not in page} == set()
