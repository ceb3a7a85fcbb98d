"""A sound request for each operation: what its owner sends, word for word, and gets a success for."""

from collections.abc import Callable
from dataclasses import dataclass, field
from io import BytesIO
from typing import Any

from PIL import Image

from tests.factories import applications, events
from tests.factories.accounts import PASSWORD
from tests.factories.inventory import HEADER

ITEM = {
    "name": "Lager",
    "sku": "NEW-1",
    "parLevel": 1,
    "minOrderQty": 1,
    "reorderLevel": 1,
    "onHand": 1,
    "reserved": 0,
    "damaged": 0,
}
NEW = {"email": "somebody.new@example.com", "password": PASSWORD, "name": "Somebody New"}
NEXT = "a louder morning at Okahandja"
SHEET = f"{HEADER}\nIMP-1,Cups,1,1,1,1,0,0\n".encode()

Body = dict[str, Any] | Callable[[dict[str, Any]], dict[str, Any]]


@dataclass(frozen=True)
class Asking:
    """What is sent: `named` says which thing of the world stands for a parameter of the path."""

    body: Body | None = None
    named: dict[str, str] = field(default_factory=dict)
    query: dict[str, str] = field(default_factory=dict)
    form: Callable[[], dict[str, Any]] | None = None

    def options(self, world: dict[str, Any]) -> dict[str, Any]:
        """Keyword arguments of the client; files are made anew, for sending closes them."""
        body = self.body(world) if callable(self.body) else self.body
        return {
            **({"json": body} if body is not None else {}),
            **({"data": self.form(), "content_type": "multipart/form-data"} if self.form else {}),
            "query_string": self.query,
        }


def picture() -> BytesIO:
    made = BytesIO()
    Image.new("RGB", (60, 40), "teal").save(made, "PNG")
    made.seek(0)
    return made


BLOCK = "/api/events/{eventId}/allocations/{blockId}"
STOCK = "/api/events/{eventId}/inventory"
STALL = "/api/merchants/me"
CREW = f"{STALL}/events/{{eventId}}/crew"
MESSAGE = {
    "name": "Doors",
    "templateId": "event-reminder",
    "title": "Doors open at six",
    "body": "See you at the gate.",
    "channels": ["email"],
    "sendNow": False,
    "audienceType": "event_ticket_holders",
    "respectPreferences": True,
}
DEVICE = {"token": "fcm-0123456789abcdef0123456789abcdef"}
CAMPAIGN = "/api/events/{id}/notifications/campaigns/{campaignId}"

ASKED: dict[str, Asking] = {
    "POST /api/diagnostics/logs": Asking({"events": [{"message": "The map did not load"}]}),
    "POST /api/auth/login": Asking(lambda it: {"email": it["customer_email"], "password": PASSWORD}),
    "POST /api/auth/logout": Asking(lambda it: {"refreshToken": it["refresh_token"]}),
    "POST /api/auth/refresh": Asking(lambda it: {"refreshToken": it["refresh_token"]}),
    "POST /api/auth/verify-email": Asking(lambda it: {"email": it["newcomer"], "code": it["newcomer_code"]}),
    "POST /api/auth/resend-verification": Asking(lambda it: {"email": it["unverified_email"]}),
    "POST /api/auth/password-reset/request": Asking(lambda it: {"email": it["newcomer"]}),
    "POST /api/auth/password-reset/verify": Asking(lambda it: {"email": it["forgetful"], "code": it["reset_code"]}),
    "POST /api/auth/password-reset/complete": Asking(
        lambda it: {"email": it["customer_email"], "resetToken": it["reset_token"], "password": NEXT}
    ),
    "POST /api/auth/register/customer": Asking(
        {"email": NEW["email"], "password": PASSWORD, "firstName": "Somebody", "lastName": "New"}
    ),
    "POST /api/auth/register/merchant": Asking({**NEW, "businessName": "Kapana Corner"}),
    "POST /api/auth/register/organiser": Asking({**NEW, "orgName": "Windhoek Lights"}),
    "POST /api/auth/register/admin": Asking({**NEW, "assignedTier": "super_admin"}),
    "POST /api/auth/apple": Asking({"identity_token": "eyJh.eyJh.c2ln"}),
    "POST /api/auth/google": Asking({"id_token": "eyJh.eyJh.c2ln"}),
    "GET /api/allocations/allocator/{token}": Asking(named={"token": "allocator_token"}),
    "POST /api/allocations/allocator/{token}": Asking(
        {"name": "Tuli", "email": "tuli@example.com"}, named={"token": "allocator_token"}
    ),
    "GET /api/allocations/claim/{token}": Asking(named={"token": "claim_token"}),
    "POST /api/allocations/claim/{token}": Asking(
        {"name": "Tuli", "email": "tuli@example.com", "delivery": "will_call"}, named={"token": "claim_token"}
    ),
    f"GET {STOCK}/reports/files/{{token}}": Asking(named={"token": "report_token"}),
    "GET /api/merchant-activation/{token}": Asking(named={"token": "activation_token"}),
    "POST /api/merchant-activation/{token}": Asking(
        applications.build_activation_body(), named={"token": "activation_token"}
    ),
    "GET /api/merchant-applications/docs/{token}": Asking(named={"token": "documents_token"}),
    "POST /api/merchant-applications/docs/{token}": Asking(
        form=lambda: {"identity": (BytesIO(applications.PDF), "identity.pdf")}, named={"token": "documents_token"}
    ),
    "GET /api/merchant-applications/files/{token}": Asking(named={"token": "file_token"}),
    "GET /api/merchant-applications/pay/{token}": Asking(named={"token": "pay_token"}),
    "POST /api/merchant-applications/pay/{token}": Asking(named={"token": "pay_token"}),
    "POST /api/merchant-applications/pay/{token}/payrail/verify-otp": Asking(
        {"code": applications.CODE}, named={"token": "pay_token"}
    ),
    "POST /api/merchant-applications": Asking(applications.build_application_body()),
    "PATCH /api/merchant-applications/{applicationId}": Asking({"decision": "approved"}),
    "POST /api/merchant-applications/{applicationId}/links": Asking(
        {"purpose": "documents"}, named={"applicationId": "approvedId"}
    ),
    "POST /api/events": Asking(events.build_event_body()),
    "POST /api/events/upload-cover": Asking(form=lambda: {"file": (picture(), "cover.png")}),
    "PATCH /api/events/{id}": Asking({"description": "Three nights by the river."}),
    "POST /api/events/{id}/merchant-invite": Asking({"businessName": "Kapana Corner", "email": "kapana@example.com"}),
    "POST /api/events/{id}/directory-invites": Asking(lambda it: {"merchantIds": [it["uninvited"]]}),
    "POST /api/events/{eventId}/allocations": Asking(lambda it: {"ticketTypeId": it["ticketTypeId"], "quantity": 2}),
    "POST /api/events/{eventId}/allocations/quote": Asking(
        lambda it: {"ticketTypeId": it["ticketTypeId"], "quantity": 2}
    ),
    "POST /api/events/{eventId}/allocations/will-call/{slotId}/admit": Asking({"nonce": "gate-a-000001"}),
    f"POST {BLOCK}/allocator-link": Asking({}),
    f"POST {BLOCK}/codes": Asking({"count": 1}),
    f"POST {BLOCK}/invite": Asking({"name": "Maria", "email": "maria@example.com"}),
    f"POST {BLOCK}/invoice/email": Asking({"to": "books@bank.example"}),
    f"POST {BLOCK}/move": Asking(lambda it: {"toBlockId": it["otherBlockId"], "quantity": 1}),
    f"POST {BLOCK}/open-link": Asking({}),
    f"POST {BLOCK}/packs": Asking({"count": 1}),
    f"POST {BLOCK}/release-unused": Asking({"quantity": 1}),
    f"POST {BLOCK}/remind": Asking({}),
    f"POST {BLOCK}/slots/{{slotId}}/revoke": Asking({}),
    f"POST {STOCK}/import": Asking(form=lambda: {"file": (BytesIO(SHEET), "stock.csv")}),
    f"POST {STOCK}/items": Asking(ITEM),
    f"PATCH {STOCK}/items/{{itemId}}": Asking({"name": "Lager, cold"}),
    f"POST {STOCK}/items/{{itemId}}/adjust": Asking({"delta": 1, "reason": "received"}),
    f"PATCH {STOCK}/reminder": Asking({"hour": 7, "recipients": ["bar@example.com"]}),
    f"POST {STOCK}/reorder/apply": Asking({"dryRun": True}),
    "POST /api/events/{id}/notifications/audience-preview": Asking({"audienceType": "event_ticket_holders"}),
    "POST /api/events/{id}/notifications/broadcast": Asking(MESSAGE),
    "POST /api/events/{id}/notifications/test": Asking({"title": "Doors", "body": "See you."}),
    f"POST {CAMPAIGN}/duplicate": Asking({}),
    f"PATCH {CAMPAIGN}": Asking({"name": "Doors, again"}),
    f"POST {CAMPAIGN}/resend-uncertain": Asking({}),
    "PATCH /api/notifications/preferences": Asking({"sms": False}),
    "POST /api/notifications/devices": Asking({**DEVICE, "platform": "android"}),
    "DELETE /api/notifications/devices": Asking(DEVICE),
    "POST /api/events/{id}/notifications/upload-image": Asking(form=lambda: {"file": (picture(), "poster.png")}),
    "GET /api/events/{id}/notifications/users/search": Asking(query={"q": "ma"}),
    f"PATCH {STALL}": Asking({"payoutDetails": {}, "settings": {}}),
    f"POST {STALL}/delete": Asking({"currentPassword": PASSWORD, "confirmation": "DELETE"}),
    f"POST {STALL}/resume": Asking({"currentPassword": PASSWORD, "confirmation": "RESUME"}),
    "POST /api/merchants/change-password": Asking({"currentPassword": PASSWORD, "newPassword": NEXT}),
    f"PATCH {STALL}/pos-floor-status": Asking({"status": "open"}),
    f"PATCH {STALL}/event-invites/{{inviteId}}": Asking({"status": "accepted"}),
    f"PUT {CREW}": Asking(lambda it: {"crew": [{"id": it["crewMemberId"], "name": "Selma"}]}),
    f"POST {CREW}/shift-verify": Asking(lambda it: {"code": it["shift_code"]}),
    f"POST {CREW}/shift-checkout": Asking({"status": "checked_out"}),
    f"POST {STALL}/payout-requests": Asking(
        {"amountMinor": 100, "destination": "payrail", "mode": "now", "password": PASSWORD}
    ),
    f"GET {STALL}/payout-requests/{{id}}": Asking(named={"id": "payoutId"}),
    f"POST {STALL}/payout-requests/{{id}}/cancel": Asking(named={"id": "payoutId"}),
}
PLAIN = Asking()


def asking(operation: str) -> Asking:
    return ASKED.get(operation, PLAIN)
