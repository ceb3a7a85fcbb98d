"""Blocks at the desk: the table, a new block and its price, changes, one block with its places, a place taken back."""

import pytest
from flask import Flask

from app.accounts.models import Account
from tests.allocations.law import assert_books_agree
from tests.counting import count_statements
from tests.factories.accounts import list_mails_to
from tests.factories.allocations import Block, create_another_block, create_block
from tests.factories.events import update_event
from tests.http import Client, data
from tests.pages.desk.test_events import EVENTS, open_as
from tests.pages.pages import Visitor
from tests.pages.test_account_page import sign_in_browser
from tests.pages.test_stall_page import find_title
from tests.pages.test_team_pages import create_owner
from tests.races import run_concurrently

READERS, WRITERS, SETTLERS = (
    ("owner", "manager", "finance", "viewer"),
    ("owner", "manager"),
    ("owner", "manager", "finance"),
)
ROLES = ("owner", "manager", "finance", "door", "stock", "messages", "viewer")
DOOR = ("owner", "manager", "door")
HOLDER = {"name": "Tuli Hamutenya", "email": "tuli@bank.example", "organisation": "Bank Windhoek"}
WRITE_PAGES = (
    "edit",
    "invite",
    "remind",
    "codes",
    "codes/new",
    "holder-link",
    "open-link",
    "links/open/end",
    "move",
    "release",
    "plan",
    "packs/new",
)
READ_PAGES = ("", "packs", "report", "report.pdf")
MONEY_PAGES = ("invoice", "invoice/issue", "invoice/mail", "invoice/preview.pdf", "invoice/buyer")


@pytest.fixture
def block(client: Client, organiser: Client) -> Block:
    return create_block(client, owner=organiser, holder=HOLDER)


def build_path(block: Block, end: str = "") -> str:
    path = f"{EVENTS}/{block.event['id']}/guests/{block.id}"
    return f"{path}/{end}" if end else path


def build_list_path(block: Block) -> str:
    return build_path(block).rpartition("/")[0]


def start_block(desk: Visitor, block: Block) -> dict[str, str]:
    """Open the form of a new block; return what is typed."""
    desk.open(f"{build_list_path(block)}/new")
    return {"ticketTypeId": block.ticket_type_id, "quantity": "10", "kind": "press", "name": "Press"}


@pytest.mark.parametrize("role", ROLES)
def test_each_role_sees_and_does_what_it_may(
    app: Flask, client: Client, owner: Account, block: Block, role: str
) -> None:
    (slot_id,) = block.claimed(1)
    visitor = open_as(app, client, owner, role)
    page = visitor.open(build_list_path(block))
    assert page.status_code == (200 if role in READERS else 403)
    if role in READERS:
        assert ("New block" in page.text) == (role in WRITERS)
        assert ("Find a guest of a block" in page.text) == (role in (*WRITERS, "viewer"))
        assert ("Invoice" in page.text) == (role in SETTLERS)
        page = visitor.open(build_path(block))
        assert ("Invite guests" in page.text) == ("Take back" in page.text) == (role in WRITERS)
        code = block.now()["slots"][0]["code"]
        assert (code in page.text) == (role in WRITERS)
        assert ("Open the invoice" in page.text) == (role in SETTLERS)
    write_pages = (f"{build_list_path(block)}/new", *(build_path(block, end) for end in WRITE_PAGES))
    write_pages += (build_path(block, f"places/{slot_id}/revoke"),)
    pages = {
        **dict.fromkeys((build_path(block, end) for end in READ_PAGES), READERS),
        **dict.fromkeys(write_pages, WRITERS),
        **dict.fromkeys((build_path(block, end) for end in MONEY_PAGES), SETTLERS),
        f"{build_list_path(block)}/will-call/{slot_id}": DOOR,
    }
    for path, roles in pages.items():
        assert visitor.open(path).status_code == (200 if role in roles else 403), path
    acts = [path for path in write_pages if not path.endswith("/codes")]
    acts += [build_path(block, end) for end in ("plan/remove", "report")]
    acts_by_roles = {
        **dict.fromkeys(acts, WRITERS),
        **dict.fromkeys(
            (build_path(block, f"invoice/{end}") for end in ("issue", "mail", "received", "buyer")), SETTLERS
        ),
        f"{build_list_path(block)}/will-call/{slot_id}": DOOR,
    }
    visitor.open(EVENTS)
    token, version = visitor.forms[0].fields["csrf_token"], block.now()["version"]
    for path, roles in acts_by_roles.items():
        if role not in roles:
            assert visitor.flask.post(path, data={"csrf_token": token}).status_code == 403, path
    assert block.now()["version"] == version


def test_blocks_of_others_are_not_there(app: Flask, client: Client, block: Block, desk: Visitor) -> None:
    other = create_block(client, owner=block.owner)
    (slot_id,) = block.claimed(1)
    mixed = f"{build_list_path(other)}/{block.id}"
    for end in ("", *(f"/{page}" for page in (*WRITE_PAGES, *MONEY_PAGES, "report", "packs"))):
        assert desk.open(f"{mixed}{end}").status_code == 404, end
    assert desk.open(build_path(other, f"places/{slot_id}/revoke")).status_code == 404
    assert desk.open(f"{build_list_path(other)}/will-call/{slot_id}").status_code == 404
    assert desk.open(f"{build_list_path(block)}/nonsense").status_code == 404
    assert desk.open(build_path(block, "packs/nonsense/tickets.pdf")).status_code == 404
    stranger = sign_in_browser(app, create_owner("Other"))
    for path in (build_list_path(block), build_path(block), build_path(block, "edit"), build_path(block, "report.pdf")):
        assert stranger.open(path).status_code == 404, path


def test_the_table_has_figures_filters_and_a_file(block: Block, desk: Visitor) -> None:
    create_another_block(block, kind="press", name="=Press", unitPriceMinor=0)
    block.claimed(2)
    page = desk.open(build_list_path(block)).text
    assert "2 blocks" in page and "of 20 in all" in page and "Gold" in page and "Bank Windhoek, Tuli Hamutenya" in page
    page = desk.open(f"{build_list_path(block)}?kind=press").text
    assert "1 block " in page and "of 10 in all" in page and "Gold</a>" not in page
    assert "Nothing matches" in desk.open(f"{build_list_path(block)}?status=cancelled").text
    assert desk.open(f"{build_list_path(block)}?kind=nonsense").status_code == 422
    page = desk.open(f"{build_list_path(block)}?sort=-available").text
    assert page.index("=Press") < page.index("Gold</a>")
    file = desk.open(f"{build_list_path(block)}?format=csv").text
    assert '"\'=Press"' in file and '"8500.00"' in file


def test_ended_places_are_explained_and_a_block_in_use_is_not_called_given_back(block: Block, desk: Visitor) -> None:
    page = desk.open(build_path(block)).text
    assert "Taken back: " not in page and "Given back: " not in page
    first, _ = block.claimed(2)
    block.invite("anna@example.com")
    data(block.revoke(first, returnTo="block"))
    for path in (build_path(block), build_list_path(block)):
        page = desk.open(path).text
        assert "Taken back: you, the holder or the guest" in page and "Given back: " not in page
    data(block.post("release-unused"))
    assert (block.now()["status"], block.now()["held"]) == ("released", 1)
    page = desk.open(build_path(block)).text
    assert "Given back: nobody had a ticket for the place" in page
    assert '<dt>State</dt><dd><span class="tag">In use, the rest given back</span>' in page
    assert "In use, the rest given back" in desk.open(f"{build_list_path(block)}?format=csv&status=released").text
    unused = create_another_block(block)
    data(unused.post("release-unused"))
    assert '<dt>State</dt><dd><span class="tag">Given back</span>' in desk.open(build_path(unused)).text


@pytest.mark.parametrize("role", ["manager", "viewer"])
def test_the_pages_say_what_blocks_links_and_claims_are(
    app: Flask, client: Client, owner: Account, block: Block, role: str
) -> None:
    visitor = open_as(app, client, owner, role)
    assert "hand them out to guests." in visitor.open(build_list_path(block)).text
    page = visitor.open(build_path(block)).text
    claims = "A guest claims a ticket when they open their link and enter their name."
    assert 0 < page.index(claims) < page.index("everybody who has it can claim a ticket"), "explained before it is used"
    assert page.count("With this link the holder hands the tickets out themselves.") == 1
    assert page.count("the gate admits them as they are") == 1
    assert ("Print claim codes on cards" in page) == (role == "manager")


def test_the_page_of_a_block_has_one_word_for_places_that_are_given_back(block: Block, desk: Visitor) -> None:
    page = desk.open(build_path(block)).text
    assert "<dt>Given back to the public</dt>" in page and "When places are given back" in page
    assert "When places are given back: " in desk.open(build_path(block, "plan")).text
    assert "goes back" not in page and "goes back" not in desk.page.text


def test_the_pages_take_few_statements(block: Block, desk: Visitor) -> None:
    for number in range(4):
        create_another_block(block, name=f"Block {number}")
    block.claimed(3)
    for path, expected in ((build_list_path(block), 9), (build_path(block), 9), (build_path(block, "plan"), 6)):
        answer, statements = count_statements(lambda path=path: desk.flask.get(path))
        assert answer.status_code == 200 and len(statements) == expected, (path, statements)


def test_a_new_block_shows_its_price_first(block: Block, desk: Visitor) -> None:
    typed = start_block(desk, block)
    assert "free" in desk.page.text and "No mail is sent" in desk.page.text
    page = desk.send(form=1, **typed, show="price")
    assert page.status_code == 200 and "What it costs" in page.text and "Total" in page.text
    assert len(data(block.owner.get(block.events))["allocations"]) == 1, "a price keeps no places"
    fields = {
        "holderOrganisation": "The Dune Post",
        "holderEmail": "hilma@dune.example",
        "price": "0",
        "releaseAt": "2027-06-03T12:00",
        "on": "2027-06-01T12:00",
        "amount": "50 %",
        "guestsMayPassOn": "true",
        "notes": "Two cameras",
    }
    page = desk.send(form=1, **typed, **fields)
    assert "The block is made. Hand out its places now or later." in page.text and find_title(page.text) == "Press"
    assert "50 % of the unused" in page.text and "Free of charge" in page.text and "Two cameras" in page.text
    created = data(block.owner.get(block.events))["allocations"][-1]
    assert (created["kind"], created["unitPriceMinor"], created["guestsMayPassOn"]) == ("press", 0, True)
    assert created["holder"]["organisation"] == "The Dune Post" and created["guestsMayGiveBack"]
    assert list_mails_to("hilma@dune.example") == []
    assert_books_agree()


def test_a_new_block_names_the_price_of_the_present_phase(block: Block, desk: Visitor) -> None:
    (listed,) = data(block.owner.get(f"/api/events/{block.event['id']}"))["ticketTypes"]
    fields = {name: listed[name] for name in ("id", "name", "quantity")}
    later = {"name": "Late", "priceMinor": 90000, "startsAt": "2126-01-01T12:00:00"}
    phases = [later, {"name": "Early", "priceMinor": 65000}]
    update_event(block.owner, block.event, ticketTypes=[{**fields, "priceMinor": 85000, "phases": phases}])
    typed = start_block(desk, block)
    assert "N$\xa0650.00, " in desk.page.text and "850.00" not in desk.page.text
    hint = "; for artists, the press and staff free of charge."
    assert f"Empty: N$\xa0650.00{hint}" in desk.page.text
    day = {"name": "Day", "quantity": 5, "priceMinor": 30000}
    update_event(block.owner, block.event, ticketTypes=[{**fields, "priceMinor": 85000, "phases": phases}, day])
    typed = start_block(desk, block)
    assert f"Empty: the price beside the tickets{hint}" in desk.page.text
    assert "Day, N$\xa0300.00, 5 free" in desk.page.text
    page = desk.send(form=1, **{**typed, "kind": "group"}, show="price")
    assert page.status_code == 200 and "N$\xa06\u202f500.00" in page.text
    for kind in ("artist", "press", "staff"):
        page = desk.send(form=1, **{**typed, "kind": kind}, show="price").text
        assert "6\u202f500.00" not in page and "N$\xa00.00" in page, kind
    page = desk.send(form=1, **{**typed, "kind": "artist"}, price="12", show="price").text
    assert "N$\xa0120.00" in page


def test_wrong_values_of_a_block_are_said_at_once_and_kept(block: Block, desk: Visitor) -> None:
    typed = start_block(desk, block)
    page = desk.send(form=1, **{**typed, "quantity": "x"}, holderEmail="nobody", price="-1", amount="50 %")
    assert page.status_code == 422 and 'value="nobody"' in page.text and "Enter a whole number." in page.text
    for name in ("quantity", "holderEmail", "price"):
        assert f'href="#{name}"' in page.text, name
    start_block(desk, block)
    page = desk.send(form=1, **typed, amount="50 %")
    assert page.status_code == 422 and 'href="#on"' in page.text and "<details open" in page.text
    for wrong, status, text in (
        ({"quantity": "91"}, 409, "Only 90 tickets of this type are free."),
        ({"ticketTypeId": "0" * 24}, 422, 'href="#ticketTypeId"'),
        ({"promoCode": "NONE"}, 422, "This code gives no discount"),
        ({"releaseAt": "2020-01-01T10:00"}, 422, "Choose a time in the future."),
        ({"on": "2020-01-01T10:00", "amount": "5"}, 422, "Choose a time in the future."),
        ({"on": "2027-06-01T12:00", "amount": "101 %"}, 422, 'href="#amount"'),
        ({"quantity": "9" * 400}, 422, 'href="#quantity"'),
        ({"name": "a\0b"}, 422, 'href="#name"'),
        ({"kind": ""}, 422, 'href="#kind"'),
    ):
        start_block(desk, block)
        page = desk.send(form=1, **{**typed, **wrong})
        assert page.status_code == status and text in page.text, wrong
    assert len(data(block.owner.get(block.events))["allocations"]) == 1


def test_a_form_that_is_sent_twice_makes_one_block(block: Block, desk: Visitor) -> None:
    typed = start_block(desk, block)
    first, second = desk.press(form=1, **typed), desk.press(form=1, **typed)
    assert first.status_code == second.status_code == 303 and first.headers["Location"] == second.headers["Location"]
    assert len(data(block.owner.get(block.events))["allocations"]) == 2
    other = desk.press(form=1, **{**typed, "quantity": "11"})
    assert other.status_code == 409 and "You have sent this form already" in other.text
    for key in ("", "\0", "x" * 200):
        assert desk.press(form=1, **typed, formKey=key).status_code == 303
    assert len(data(block.owner.get(block.events))["allocations"]) == 5


def test_a_form_that_is_sent_twice_at_once_makes_one_block(app: Flask, owner: Account, block: Block) -> None:
    visitors = [sign_in_browser(app, owner) for _ in range(2)]
    typed = [{**start_block(visitor, block), "formKey": "a-key-of-one-form"} for visitor in visitors]
    answers = run_concurrently(2, lambda number: visitors[number].press(form=1, **typed[number]))
    assert [answer.status_code for answer in answers] == [303, 303]
    assert answers[0].headers["Location"] == answers[1].headers["Location"]
    assert len(data(block.owner.get(block.events))["allocations"]) == 2


def test_the_forms_of_a_block_say_that_guests_read_its_name(block: Block, desk: Visitor) -> None:
    for path in (f"{build_list_path(block)}/new", build_path(block, "edit"), build_path(block, "move")):
        page = desk.open(path).text
        assert ('name="name"' in page) == ("Guests read it on their ticket" in page), path
    assert "Guests read it on their ticket" in desk.open(build_path(block, "edit")).text


def test_a_block_is_changed_with_its_version(block: Block, desk: Visitor) -> None:
    desk.open(build_path(block, "edit"))
    fields = desk.forms[1].fields
    assert (fields["holderEmail"], fields["price"], fields["quantity"]) == ("tuli@bank.example", "850", "10")
    changes = {"quantity": "12", "price": "800.50", "holderName": "", "guestsMayPassOn": ""}
    page = desk.send(form=1, kind="artist", **changes)
    assert "The block is saved." in page.text
    changed = block.now()
    assert (changed["quantity"], changed["unitPriceMinor"], changed["guestsMayPassOn"]) == (12, 80050, False)
    assert changed["kind"] == "artist"
    assert changed["holder"] == {**HOLDER, "name": None, "phone": None}
    desk.open(build_path(block, "edit"))
    block.change(name="Platinum")
    page = desk.send(form=1, kind="artist", name="Silver")
    assert page.status_code == 412 and "Open the page again" in page.text and block.now()["name"] == "Platinum"
    desk.open(build_path(block, "edit"))
    page = desk.send(form=1, kind="artist", quantity="101")
    assert page.status_code == 409 and "Only 88 tickets of this type are free." in page.text
    data(block.post("invoice/email"), 202)
    desk.open(build_path(block, "edit"))
    assert "The block is saved." in desk.send(form=1, kind="artist", name="Silver").text
    desk.open(build_path(block, "edit"))
    page = desk.send(form=1, kind="artist", price="1")
    assert page.status_code == 409 and 'href="#price">The invoice of this block is issued' in page.text
    assert_books_agree()


def test_another_address_gets_the_holders_link(block: Block, desk: Visitor) -> None:
    block.allocator(mail=False)
    page = desk.open(build_path(block, "edit"))
    assert "a new one goes to that address by mail" in page.text
    desk.send(form=1, kind="sponsor", holderEmail="sara@bank.example")
    assert len(list_mails_to("sara@bank.example")) == 1 and list_mails_to("tuli@bank.example") == []


def test_places_are_searched_and_shown_with_ticket_and_admission(block: Block, desk: Visitor) -> None:
    assert "Guests appear here" in desk.open(build_path(block)).text
    first, _ = block.claimed(2, name="Selma")
    block.invite("anna@example.com")
    block.admit(first, gate="North gate")
    page = desk.open(build_path(block)).text
    assert "3 places" in page and "North gate" in page and "/ticket/" in page and "/claim/" in page
    page = desk.open(f"{build_path(block)}?q=ANNA%40").text
    assert "1 place " in page and "Selma" not in page
    for query, text in (
        ("q=%25", "Nothing matches"),
        ("status=available", "7 places"),
        ("status=admitted", "1 place "),
    ):
        assert text in desk.open(f"{build_path(block)}?{query}").text, query
    assert desk.open(f"{build_path(block)}?q=%00").status_code == 422
    assert "anna@example.com" in desk.open(f"{build_path(block)}?format=csv").text
    trail = data(block.owner.get("/api/organisations/me/audit?area=exports"))["entries"]
    assert [entry["action"] for entry in trail] == ["exports.guest_report"]


def test_a_place_is_taken_back_after_a_question(block: Block, desk: Visitor) -> None:
    first, second = block.claimed(2)
    page = desk.open(build_path(block, f"places/{first}/revoke"))
    assert "This cannot be undone" in page.text and block.now()["claimed"] == 2
    assert desk.send(form=1, returnTo="nowhere").status_code == 422
    desk.open(build_path(block, f"places/{first}/revoke"))
    assert "the place is taken back." in desk.send(form=1, returnTo="public").text
    now = block.now()
    assert (now["claimed"], now["revoked"], now["held"]) == (1, 1, 9)
    block.admit(second)
    desk.open(build_path(block, f"places/{second}/revoke"))
    page = desk.send(form=1, returnTo="block")
    assert page.status_code == 409 and "was admitted, so it stays" in page.text
    assert_books_agree()
