"""The home of a merchant and its pages in a real browser; pictures are kept of every state."""

from datetime import UTC, datetime, timedelta

from playwright.sync_api import Browser, Page, expect

from app.accounts.models import Account
from app.core.clock import rfc3339
from tests.factories.accounts import PASSWORD, create_signed_in_client
from tests.factories.applications import create_approved_application
from tests.factories.crew import replace_crew, start_shift
from tests.factories.events import create_organiser_client, create_published_event
from tests.factories.merchants import create_merchant_account, create_participant, invite_merchants, update_merchant
from tests.factories.payouts import BANK, WALLET, age_sign_ins, import_earnings, request_payout
from tests.http import Client, data
from tests.pages.browser import open_view
from tests.pages.test_stall_page import begin_event

SERIES = "stall"


def sign_in(page: Page, address: str, account: Account) -> None:
    page.goto(f"{address}/sign-in")
    page.get_by_label("E-mail address").fill(account.email)
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()


def create_busy_merchant(client: Client) -> tuple[Client, Account, str]:
    """A merchant with a running and a coming event, people at work and missing, money, an invitation and an application."""
    organiser = create_organiser_client(client)
    running, coming, other, applied = (
        create_published_event(organiser, name=name)["id"]
        for name in ("Windhoek Lights", "Swakop Jazz", "Etosha Nights", "Oranjemund Kite Festival")
    )
    me, account = create_participant(client, organiser, running, business_name="Kapana Corner")
    for event_id in (coming, other):
        invite_id = invite_merchants(organiser, event_id, account)["invited"][0]["inviteId"]
        if event_id == coming:
            data(me.patch(f"/api/merchants/me/event-invites/{invite_id}", {"status": "accepted"}))
    create_approved_application(me, organiser, eventId=applied, email=None, stallType="Food stall")
    begin_event(running)
    update_merchant(me, payoutDetails={"msisdn": WALLET, **BANK})
    import_earnings(account, 1_234_550)
    request_payout(me, 50_000)
    path = f"/api/merchants/me/events/{running}/crew"
    selma, jonas = replace_crew(
        me, path, {"name": "Selma Nangolo", "role": "till"}, {"name": "Jonas Haufiku", "phone": "+264811234567"}
    )
    now = datetime.now(UTC)
    times = {"startsAt": rfc3339(now - timedelta(minutes=9)), "endsAt": rfc3339(now + timedelta(hours=2))}
    shifts = [{"crewMemberId": member["id"], **times, "note": "Till 2"} for member in (selma, jonas)]
    data(me.put(f"{path}/planned-shifts", {"plannedShifts": shifts}))
    start_shift(me, path, selma["shiftCode"])
    return me, account, running


def test_the_home_of_a_busy_merchant(client: Client, address: str, chromium: Browser) -> None:
    _, account, event_id = create_busy_merchant(client)
    with open_view(chromium, SERIES) as view:
        page = view.page
        sign_in(page, address, account)
        assert page.url == f"{address}/stall"
        page.set_viewport_size({"width": 320, "height": 720})
        button = page.get_by_role("link", name="Upload documents").first.bounding_box()
        assert button is not None and button["y"] + button["height"] < 720, "the next step is on the first screen"
        view.check("home")
        page.get_by_role("button", name="Open", exact=True).click()
        view.check("home-opened")
        for name in ("crew", "plan", "hours"):
            page.goto(f"{address}/stall/{event_id}/{name}")
            view.check(name)
        page.goto(f"{address}/stall/{event_id}/crew")
        page.get_by_label("Name").fill("Ndapewa Iita")
        page.get_by_role("button", name="Add and show the code").click()
        view.check("code")
        page.goto(f"{address}/stall/{event_id}/crew")
        page.get_by_role("link", name="Change Selma Nangolo").click()
        page.get_by_text("Remove from the crew").click()
        view.check("member")


def test_payouts_without_scripts_by_keyboard(client: Client, address: str, chromium: Browser) -> None:
    _, account, _ = create_busy_merchant(client)
    with open_view(chromium, SERIES, scripts=False) as view:
        page = view.page
        sign_in(page, address, account)
        page.goto(f"{address}/stall/payouts")
        view.check("payouts")
        age_sign_ins(account)
        page.get_by_label("Amount in N$").focus()
        page.keyboard.type("100")
        page.keyboard.press("Tab")
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        expect(page.get_by_text("Nothing was paid to this destination before.")).to_be_visible()
        view.check("payouts-confirm")
        page.get_by_label("Your password").fill("not my password")
        page.keyboard.press("Enter")
        expect(page.locator("#summary")).to_be_visible()
        view.check("payouts-wrong")
        page.get_by_label("Your password").fill(PASSWORD)
        page.keyboard.press("Enter")
        expect(page.get_by_text("it leaves").first).to_be_visible()
        view.check("payouts-requested")
        page.goto(f"{address}/stall/payout-details")
        view.check("payout-details")


def test_a_new_merchant_and_a_paused_one(client: Client, address: str, chromium: Browser) -> None:
    account = create_merchant_account("Oshana Kitchen")
    me = create_signed_in_client(client, account)
    with open_view(chromium, SERIES) as view:
        page = view.page
        sign_in(page, address, account)
        view.check("home-new")
        data(me.post("/api/merchants/me/pause"))
        page.goto(f"{address}/stall")
        view.check("home-paused")
        page.get_by_role("link", name="Resume").first.click()
        view.check("resume")
