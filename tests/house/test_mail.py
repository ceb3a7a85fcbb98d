"""Mail to others leaves in one way only, and the documentation names each kind of it."""

from app.core.jobs import registered
from tests.house.sources import ROOT

TO_THE_ACCOUNT_ITSELF = {"accounts", "merchants", "payouts"}
ELSEWHERE = {
    "app/accounts/outgoing_mail.py": "the one way for mail to others",
    "app/applications/jobs.py": "tells the organiser, beside its mail to others",
    "app/campaigns/delivering.py": "asks for the organiser's verified address in the query that every message makes",
}


def test_only_one_way_leads_to_other_peoples_mailboxes() -> None:
    found = {
        str(path.relative_to(ROOT))
        for path in (ROOT / "app").rglob("*.py")
        if "mail import Attachment, send" in (source := path.read_text("utf-8"))
        or "mail import Message, send" in source
        or "mail import send" in source
        or "import mail as" in source
    }
    assert {each for each in found if each.split("/")[1] not in TO_THE_ACCOUNT_ITSELF} == set(ELSEWHERE) - {
        "app/accounts/outgoing_mail.py"
    }


def test_the_table_of_mails_to_others_is_whole() -> None:
    page = (ROOT / "docs" / "security.md").read_text("utf-8")
    kinds = {each.kind for each in registered() if each.to_others}
    assert {each for each in kinds if f"| `{each}` |" not in page} == set()
