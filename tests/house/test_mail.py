"""Mail to others leaves in one way only, and the documentation names each kind of it."""

import ast

from app.core.jobs import list_jobs
from tests.house.sources import ROOT

TO_THE_ACCOUNT_ITSELF = {"accounts", "merchants", "payouts"}
ELSEWHERE = {
    "app/applications/jobs.py": "tells the organiser, beside its mail to others",
    "app/invitations/jobs.py": "asks for the organiser's verified address in the query of a declined link",
    "app/campaigns/delivery.py": "asks for the organiser's verified address in the query that every message makes",
}


def sends(source: str) -> bool:
    """Whether a module imports what sends a mail."""
    imports = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.ImportFrom)]
    return any((item.module, name.name) in SENDING for item in imports for name in item.names)


SENDING = {("app.clients.mail", "send"), ("app.clients", "mail")}


def test_only_one_way_leads_to_other_peoples_mailboxes() -> None:
    files = {str(path.relative_to(ROOT)): path for path in (ROOT / "app").rglob("*.py")}
    found = {name for name, path in files.items() if sends(path.read_text("utf-8"))}
    assert {item for item in found if item.split("/")[1] not in TO_THE_ACCOUNT_ITSELF} == set(ELSEWHERE)


def test_the_table_of_mails_to_others_is_whole() -> None:
    page = (ROOT / "docs" / "security.md").read_text("utf-8")
    kinds = {item.kind for item in list_jobs() if item.to_others}
    assert {kind for kind in kinds if f"| `{kind}` |" not in page} == set()
