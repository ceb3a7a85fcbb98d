"""The report of a block for its holder."""

from tests.factories.accounts import list_mails_to, run_jobs
from tests.factories.allocations import Block, claim_slot, create_block
from tests.factories.payouts import execute_sql
from tests.http import Client, data, read_error
from tests.pdf_text import NEEDS_PDFTOTEXT, read_pdf

HOLDER = {"name": "Tuli", "email": "tuli@bank.example", "organisation": "Bank Windhoek"}


def used_block(client: Client) -> Block:
    """Return a block with an admitted, a claimed and an invited place, a printed one, and two given back."""
    made = create_block(client, holder=HOLDER)
    for name in ("Zoë", "anna"):
        slot = data(claim_slot(client, made.codes(1)[0], name=name, phone="+264811234567"))
        if name == "Zoë":
            data(made.admit(slot["slotId"]))
    made.invite("berta@example.com")
    data(made.post("packs", count=1), 202)
    data(made.post("release-unused", quantity=2))
    return made


def test_report_has_figures_and_guests_by_name_without_addresses(client: Client) -> None:
    made = used_block(client)
    response = made.owner.get(f"{made.path}/report")
    found = data(response)
    figures = ("quantity", "held", "available", "invited", "claimed", "admitted", "givenBack")
    assert [found[name] for name in figures] == [10, 8, 4, 1, 2, 1, 2]
    assert [(guest["name"], guest["status"], guest["via"]) for guest in found["guests"]] == [
        (None, "claimed", "pack"),
        ("anna", "claimed", "code"),
        ("berta", "invited", "invite"),
        ("Zoë", "admitted", "code"),
    ]
    text = response.get_data(as_text=True)
    assert "example.com" not in text.split('"guests"')[1] and "+264811234567" not in text


@NEEDS_PDFTOTEXT
def test_report_is_a_pdf_by_format_or_accept(client: Client) -> None:
    made = used_block(client)
    for response in (
        made.owner.get(f"{made.path}/report", query_string={"format": "pdf"}),
        made.owner.get(f"{made.path}/report", headers={"Accept": "application/pdf"}),
    ):
        assert response.mimetype == "application/pdf"
        text = read_pdf(response.data)
        for phrase in ("Bank Windhoek", "Zoë", "Admitted", "berta", "Invited", "Printed ticket without a name"):
            assert phrase in text
        assert "+264811234567" not in text and "berta@example.com" not in text
    as_json = made.owner.get(
        f"{made.path}/report", query_string={"format": "json"}, headers={"Accept": "application/pdf"}
    )
    assert data(as_json)["held"] == 8


@NEEDS_PDFTOTEXT
def test_report_of_a_new_block_has_no_guests(client: Client) -> None:
    made = create_block(client)
    assert data(made.owner.get(f"{made.path}/report"))["guests"] == []
    pdf = made.owner.get(f"{made.path}/report", query_string={"format": "pdf"})
    assert "No place has been given to a guest yet." in read_pdf(pdf.data)


def test_report_is_mailed_to_the_holder_or_another_address(client: Client) -> None:
    made = used_block(client)
    assert data(made.post("report/email"), 202) == {"to": "tuli@bank.example"}
    assert data(made.post("report/email", to="boss@bank.example"), 202) == {"to": "boss@bank.example"}
    run_jobs()
    for address in ("tuli@bank.example", "boss@bank.example"):
        (mail,) = list_mails_to(address)
        assert "Places: 8" in mail["text"] and "Given back: 2" in mail["text"]
        assert [item["name"] for item in mail["attachments"]] == [f"Guests at {made.event['name']}.pdf"]
        assert "Zoë" not in mail["text"]


def test_report_needs_an_address_and_a_verified_sender(client: Client) -> None:
    made = create_block(client)
    assert read_error(made.post("report/email")) == (409, "INVOICE_ADDRESS_MISSING")
    execute_sql("UPDATE account SET email_verified_at = NULL")
    assert made.post("report/email", to="victim@bank.example").status_code == 403
    assert list_mails_to("victim@bank.example") == []


def test_report_is_mailed_twenty_times_a_day_at_most(client: Client) -> None:
    made = create_block(client)
    sent = [made.post("report/email", to=f"a{number}@bank.example").status_code for number in range(21)]
    assert sent == [202] * 20 + [429]
