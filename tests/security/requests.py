"""A request for each operation with which its owner succeeds."""

from collections.abc import Callable
from dataclasses import dataclass, field
from io import BytesIO
from typing import Any

from PIL import Image

from tests.factories import applications, events
from tests.factories.accounts import PASSWORD
from tests.factories.applications import TRANSFER_DAY
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
class SampleRequest:
    """A request. `path_values` names the value of the world for a parameter of the path."""

    body: Body | None = None
    path_values: dict[str, str] = field(default_factory=dict)
    query: dict[str, str] = field(default_factory=dict)
    form: Callable[[], dict[str, Any]] | None = None

    def options(self, world: dict[str, Any]) -> dict[str, Any]:
        """Keyword arguments of the client. Files are created for each request, because sending closes them."""
        body = self.body(world) if callable(self.body) else self.body
        return {
            **({"json": body} if body is not None else {}),
            **({"data": self.form(), "content_type": "multipart/form-data"} if self.form else {}),
            "query_string": self.query,
        }


def build_picture() -> BytesIO:
    picture = BytesIO()
    Image.new("RGB", (60, 40), "teal").save(picture, "PNG")
    picture.seek(0)
    return picture


BLOCK = "/api/events/{eventId}/allocations/{blockId}"
STOCK = "/api/events/{eventId}/inventory"
STALL = "/api/merchants/me"
EARLY, LATE = "2026-12-04T08:00:00+02:00", "2026-12-04T16:00:00+02:00"
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
SUPPRESSIONS = "/api/events/{id}/notifications/suppressions"

ORGANISATION = "/api/organisations/me"
SAMPLE_REQUESTS: dict[str, SampleRequest] = {
    "PATCH /api/auth/me": SampleRequest({"name": "Frieda Amupolo"}),
    "POST /api/auth/change-password": SampleRequest({"currentPassword": PASSWORD, "newPassword": NEXT}),
    "POST /api/auth/change-email": SampleRequest({"newEmail": "moved@example.com", "password": PASSWORD}),
    "POST /api/auth/change-email/confirm": SampleRequest({"code": "000000"}),
    "POST /api/auth/second-factor": SampleRequest({"password": PASSWORD}),
    "DELETE /api/auth/second-factor": SampleRequest({"password": PASSWORD}),
    "POST /api/auth/second-factor/confirm": SampleRequest({"code": "000000"}),
    "POST /api/auth/second-factor/recovery-codes": SampleRequest({"password": PASSWORD}),
    "POST /api/auth/login/second-factor": SampleRequest({"challenge": "x" * 43, "code": "000000"}),
    f"PATCH {ORGANISATION}": SampleRequest({"requiresSecondFactor": False}),
    f"POST {ORGANISATION}/members": SampleRequest({"email": "helper@example.com", "role": "door"}),
    f"PATCH {ORGANISATION}/members/{{memberId}}": SampleRequest({"role": "stock"}),
    f"POST {ORGANISATION}/members/{{memberId}}/offer-ownership": SampleRequest({"password": PASSWORD}),
    f"GET {ORGANISATION}/search": SampleRequest(query={"q": "ma"}),
    f"POST {ORGANISATION}/api-keys": SampleRequest({"name": "Shop", "scopes": ["gate"], "password": PASSWORD}),
    f"POST {STALL}/members": SampleRequest({"email": "helper@example.com", "role": "cashier"}),
    f"PATCH {STALL}/members/{{memberId}}": SampleRequest({"role": "manager"}, {"memberId": "merchantMemberId"}),
    f"DELETE {STALL}/members/{{memberId}}": SampleRequest(None, {"memberId": "merchantMemberId"}),
    "GET /api/team-invites/{token}": SampleRequest(None, {"token": "team_invite_token"}),
    "POST /api/team-invites/{token}/accept": SampleRequest(None, {"token": "team_invite_token"}),
    "POST /api/events/{eventId}/devices": SampleRequest({"kind": "gate", "name": "Gate A"}),
    "POST /api/devices/pair": SampleRequest(lambda it: {"code": it["pairing_code"]}),
    "POST /api/diagnostics/logs": SampleRequest({"events": [{"message": "The map did not load"}]}),
    "POST /api/auth/login": SampleRequest(lambda it: {"email": it["customer_email"], "password": PASSWORD}),
    "POST /api/auth/logout": SampleRequest(lambda it: {"refreshToken": it["refresh_token"]}),
    "POST /api/auth/refresh": SampleRequest(lambda it: {"refreshToken": it["refresh_token"]}),
    "POST /api/auth/verify-email": SampleRequest(lambda it: {"email": it["newcomer"], "code": it["newcomer_code"]}),
    "POST /api/auth/resend-verification": SampleRequest(lambda it: {"email": it["unverified_email"]}),
    "POST /api/auth/password-reset/request": SampleRequest(lambda it: {"email": it["newcomer"]}),
    "POST /api/auth/password-reset/verify": SampleRequest(
        lambda it: {"email": it["forgetful"], "code": it["reset_code"]}
    ),
    "POST /api/auth/password-reset/complete": SampleRequest(
        lambda it: {"email": it["customer_email"], "resetToken": it["reset_token"], "password": NEXT}
    ),
    "POST /api/auth/register/customer": SampleRequest(
        {"email": NEW["email"], "password": PASSWORD, "firstName": "Somebody", "lastName": "New"}
    ),
    "POST /api/auth/register/merchant": SampleRequest({**NEW, "businessName": "Kapana Corner"}),
    "POST /api/auth/register/organiser": SampleRequest({**NEW, "orgName": "Windhoek Lights"}),
    "POST /api/auth/register/admin": SampleRequest({**NEW, "assignedTier": "super_admin"}),
    "POST /api/auth/apple": SampleRequest({"identity_token": "eyJh.eyJh.c2ln"}),
    "POST /api/auth/google": SampleRequest({"id_token": "eyJh.eyJh.c2ln"}),
    "DELETE /api/auth/me": SampleRequest({"password": PASSWORD}),
    "POST /api/admin/accounts/{accountId}/suspend": SampleRequest({"reason": "Three people complained."}),
    "POST /api/admin/accounts/{accountId}/restore": SampleRequest({}),
    "DELETE /api/admin/accounts/{accountId}/sessions": SampleRequest({}),
    "GET /api/allocations/allocator/{token}": SampleRequest(path_values={"token": "allocator_token"}),
    "POST /api/allocations/allocator/{token}": SampleRequest(
        {"name": "Tuli", "email": "tuli@example.com"}, path_values={"token": "allocator_token"}
    ),
    "POST /api/allocations/allocator/{token}/guests": SampleRequest(
        {"recipients": [{"name": "Tuli", "email": "tuli@example.com"}]}, path_values={"token": "allocator_token"}
    ),
    "GET /api/allocations/claim/{token}": SampleRequest(path_values={"token": "claim_token"}),
    "GET /api/allocations/ticket/{token}": SampleRequest(path_values={"token": "ticket_token"}),
    "POST /api/allocations/ticket/{token}/give-back": SampleRequest(path_values={"token": "ticket_token"}),
    "POST /api/allocations/ticket/{token}/pass-on": SampleRequest(
        {"name": "Tuli", "email": "tuli@example.com"}, path_values={"token": "ticket_token"}
    ),
    "POST /api/allocations/claim/{token}": SampleRequest(
        {"name": "Tuli", "email": "tuli@example.com", "delivery": "will_call"}, path_values={"token": "claim_token"}
    ),
    f"GET {STOCK}/reports/files/{{token}}": SampleRequest(path_values={"token": "report_token"}),
    "GET /api/merchant-activation/{token}": SampleRequest(path_values={"token": "activation_token"}),
    "POST /api/merchant-activation/{token}": SampleRequest(
        applications.build_activation_body(), path_values={"token": "activation_token"}
    ),
    "GET /api/merchant-applications/docs/{token}": SampleRequest(path_values={"token": "documents_token"}),
    "POST /api/merchant-applications/docs/{token}": SampleRequest(
        form=lambda: {"identity": (BytesIO(applications.PDF), "identity.pdf")}, path_values={"token": "documents_token"}
    ),
    "GET /api/merchant-applications/files/{token}": SampleRequest(path_values={"token": "file_token"}),
    "GET /api/merchant-applications/offer/{token}": SampleRequest(path_values={"token": "offer_token"}),
    "POST /api/merchant-applications/offer/{token}": SampleRequest(
        {"answer": "accepted"}, path_values={"token": "offer_token"}
    ),
    "GET /api/merchant-applications/pay/{token}": SampleRequest(path_values={"token": "pay_token"}),
    "PATCH /api/merchant-applications/pay/{token}": SampleRequest({}, path_values={"token": "pay_token"}),
    "POST /api/merchant-applications/pay/{token}": SampleRequest(path_values={"token": "pay_token"}),
    "POST /api/merchant-applications/pay/{token}/payrail/verify-otp": SampleRequest(
        {"code": applications.CODE}, path_values={"token": "pay_token"}
    ),
    "POST /api/merchant-applications": SampleRequest(applications.build_application_body()),
    "PATCH /api/merchant-applications/{applicationId}": SampleRequest({"decision": "approved"}),
    "POST /api/merchant-applications/{applicationId}/offer-place": SampleRequest(
        path_values={"applicationId": "offeredId"}
    ),
    "POST /api/merchant-applications/{applicationId}/links": SampleRequest(
        {"purpose": "documents"}, path_values={"applicationId": "approvedId"}
    ),
    "PATCH /api/merchant-applications/{applicationId}/contact": SampleRequest(
        {"phone": "+264811234567"}, path_values={"applicationId": "approvedId"}
    ),
    "POST /api/merchant-applications/{applicationId}/documents/ask-again": SampleRequest(
        {"kinds": ["identity"], "reason": "The photo is blurred."}, path_values={"applicationId": "approvedId"}
    ),
    "POST /api/merchant-applications/{applicationId}/documents/accept": SampleRequest(
        {"kinds": ["identity"]}, path_values={"applicationId": "approvedId"}
    ),
    "GET /api/merchant-applications/{applicationId}/invoice": SampleRequest(
        path_values={"applicationId": "approvedId"}
    ),
    "POST /api/merchant-applications/{applicationId}/fee/received": SampleRequest(
        {"amountMinor": 250000, "reference": "MA-7K2P9QXT", "receivedOn": TRANSFER_DAY},
        path_values={"applicationId": "approvedId"},
    ),
    "POST /api/merchant-applications/{applicationId}/fee/waive": SampleRequest(
        {"reason": "a school"}, path_values={"applicationId": "approvedId"}
    ),
    "POST /api/merchant-applications/{applicationId}/fee/refund": SampleRequest(
        {"reason": "They fell ill"}, path_values={"applicationId": "paidId"}
    ),
    "POST /api/events/{eventId}/stall-fees/statement": SampleRequest(
        form=lambda: {"file": (BytesIO(b"Date,Amount,Description\n2026-01-05,2500.00,MA-2345678\n"), "statement.csv")}
    ),
    "POST /api/organisations/me/money/statement": SampleRequest(
        form=lambda: {"file": (BytesIO(b"Date,Amount,Description\n2026-01-05,2500.00,MA-2345678\n"), "statement.csv")}
    ),
    "POST /api/events": SampleRequest(events.build_event_body()),
    "POST /api/events/upload-cover": SampleRequest(form=lambda: {"file": (build_picture(), "cover.png")}),
    "PATCH /api/events/{id}": SampleRequest({"description": "Three nights by the river."}),
    "POST /api/events/{id}/merchant-invite": SampleRequest(
        {"businessName": "Kapana Corner", "email": "kapana@example.com"}
    ),
    "PATCH /api/events/{eventId}/stalls/{merchantId}": SampleRequest({"stallNumber": "B12"}),
    "POST /api/events/{id}/directory-invites": SampleRequest(lambda it: {"merchantIds": [it["uninvited"]]}),
    "POST /api/events/{eventId}/admissions": SampleRequest(
        lambda it: {"placeId": it["slotId"], "nonce": "gate-a-000002"}
    ),
    "POST /api/events/{eventId}/admissions/batch": SampleRequest({"admissions": [{"nonce": "no code"}]}),
    "GET /api/events/{eventId}/admissions/places": SampleRequest(query={"q": "guest"}),
    "POST /api/events/{eventId}/admissions/{admissionId}/undo": SampleRequest({"reason": "wrong ticket"}),
    "POST /api/events/{eventId}/allocations": SampleRequest(
        lambda it: {"ticketTypeId": it["ticketTypeId"], "quantity": 2}
    ),
    "POST /api/events/{eventId}/allocations/quote": SampleRequest(
        lambda it: {"ticketTypeId": it["ticketTypeId"], "quantity": 2}
    ),
    "POST /api/events/{eventId}/allocations/will-call/{slotId}/admit": SampleRequest({"nonce": "gate-a-000001"}),
    f"POST {BLOCK}/allocator-link": SampleRequest({}),
    f"POST {BLOCK}/codes": SampleRequest({"count": 1}),
    f"POST {BLOCK}/invite": SampleRequest({"name": "Maria", "email": "maria@example.com"}),
    f"POST {BLOCK}/invoice/credit": SampleRequest(path_values={"blockId": "creditedBlockId"}),
    f"POST {BLOCK}/invoice/email": SampleRequest({"to": "books@bank.example"}),
    f"GET {BLOCK}/invoice/preview": SampleRequest(path_values={"blockId": "otherBlockId"}),
    f"PATCH {BLOCK}/invoice/buyer": SampleRequest(
        {"buyerName": "Bank Windhoek", "buyerReference": "PO-1"}, path_values={"blockId": "otherBlockId"}
    ),
    f"POST {BLOCK}/invoice/received": SampleRequest(
        lambda it: {"amountMinor": it["invoiceDueMinor"], "reference": "EFT 1", "receivedOn": TRANSFER_DAY}
    ),
    f"POST {BLOCK}/invoice/received/take-back": SampleRequest(
        {"number": 1, "reason": "It was for another invoice"}, path_values={"blockId": "paidBlockId"}
    ),
    f"POST {BLOCK}/move": SampleRequest({"newBlock": {}, "quantity": 1}, path_values={"blockId": "otherBlockId"}),
    f"POST {BLOCK}/open-link": SampleRequest({}),
    f"POST {BLOCK}/packs": SampleRequest({"count": 1}),
    f"POST {BLOCK}/release-unused": SampleRequest({"quantity": 1}),
    f"POST {BLOCK}/remind": SampleRequest({}),
    f"POST {BLOCK}/report/email": SampleRequest({"to": "sponsor@bank.example"}),
    f"PATCH {BLOCK}": SampleRequest({"name": "Main sponsor"}),
    f"POST {BLOCK}/slots/{{slotId}}/revoke": SampleRequest({}),
    "POST /api/events/{eventId}/tickets/import": SampleRequest(
        form=lambda: {"file": (BytesIO(b"reference,ticketType\n"), "tickets.csv")}
    ),
    f"POST {STOCK}/import": SampleRequest(form=lambda: {"file": (BytesIO(SHEET), "stock.csv")}),
    f"POST {STOCK}/items": SampleRequest(ITEM),
    f"PATCH {STOCK}/items/{{itemId}}": SampleRequest({"name": "Lager, cold"}),
    f"POST {STOCK}/items/{{itemId}}/adjust": SampleRequest({"delta": 1, "reason": "received"}),
    f"PATCH {STOCK}/reminder": SampleRequest({"hour": 7, "recipients": ["bar@example.com"]}),
    f"POST {STOCK}/reorder/apply": SampleRequest({"dryRun": True}),
    "POST /api/events/{id}/notifications/audience-preview": SampleRequest({"audienceType": "event_ticket_holders"}),
    "POST /api/events/{id}/notifications/broadcast": SampleRequest(MESSAGE),
    "POST /api/events/{id}/notifications/test": SampleRequest({"title": "Doors", "body": "See you."}),
    f"POST {CAMPAIGN}/duplicate": SampleRequest({}),
    f"PATCH {CAMPAIGN}": SampleRequest({"name": "Doors, again"}),
    f"POST {CAMPAIGN}/resend-uncertain": SampleRequest({}),
    "POST /api/events/{id}/notifications/failed-mails/clear": SampleRequest({"ids": ["0" * 24]}),
    f"POST {SUPPRESSIONS}": SampleRequest({"address": "stop@example.com"}),
    f"POST {SUPPRESSIONS}/remove": SampleRequest(
        {"reason": "stopped", "channel": "all", "address": "gone@example.com"}
    ),
    "PATCH /api/notifications/preferences": SampleRequest({"sms": False}),
    "POST /api/notifications/devices": SampleRequest({**DEVICE, "platform": "android"}),
    "DELETE /api/notifications/devices": SampleRequest(DEVICE),
    "POST /api/events/{id}/notifications/upload-image": SampleRequest(
        form=lambda: {"file": (build_picture(), "poster.png")}
    ),
    "GET /api/events/{id}/notifications/users/search": SampleRequest(query={"q": "ma"}),
    f"PATCH {STALL}": SampleRequest({"payoutDetails": {}, "settings": {}}),
    f"POST {STALL}/delete": SampleRequest({"currentPassword": PASSWORD, "confirmation": "DELETE"}),
    f"POST {STALL}/resume": SampleRequest({"currentPassword": PASSWORD, "confirmation": "RESUME"}),
    "POST /api/merchants/change-password": SampleRequest({"currentPassword": PASSWORD, "newPassword": NEXT}),
    f"PATCH {STALL}/pos-floor-status": SampleRequest({"status": "open"}),
    f"PATCH {STALL}/event-invites/{{inviteId}}": SampleRequest({"status": "accepted"}),
    f"PUT {CREW}": SampleRequest(lambda it: {"crew": [{"id": it["crewMemberId"], "name": "Selma"}]}),
    f"PUT {CREW}/rotating-code": SampleRequest({"rotatingCode": True}),
    f"PUT {CREW}/planned-shifts": SampleRequest(
        lambda it: {"plannedShifts": [{"crewMemberId": it["crewMemberId"], "startsAt": EARLY, "endsAt": LATE}]}
    ),
    f"POST {CREW}/shift-verify": SampleRequest(lambda it: {"code": it["shift_code"]}),
    f"POST {CREW}/shift-checkout": SampleRequest({"status": "checked_out"}),
    f"POST {STALL}/payout-requests": SampleRequest(
        {"amountMinor": 100, "destination": "payrail", "mode": "now", "password": PASSWORD}
    ),
    f"GET {STALL}/payout-requests/{{id}}": SampleRequest(path_values={"id": "payoutId"}),
    f"POST {STALL}/payout-requests/{{id}}/cancel": SampleRequest(path_values={"id": "payoutId"}),
}
EMPTY_REQUEST = SampleRequest()


def find_sample_request(operation: str) -> SampleRequest:
    return SAMPLE_REQUESTS.get(operation, EMPTY_REQUEST)
