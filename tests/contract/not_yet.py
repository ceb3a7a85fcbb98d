"""Promised operations that do not exist yet. A test fails when one of them does: then it leaves this list."""

NOT_YET = frozenset(
    {
        "GET /api/merchants/me/payout-requests",
        "POST /api/merchants/me/payout-requests",
        "POST /api/merchants/me/payout-requests/{id}/cancel",
        "GET /api/merchants/me/payout-requests/availability",
        "GET /api/events/{eventId}/allocations",
        "POST /api/events/{eventId}/allocations",
        "GET /api/events/{eventId}/allocations/{blockId}",
        "POST /api/events/{eventId}/allocations/{blockId}/allocator-link",
        "POST /api/events/{eventId}/allocations/{blockId}/codes",
        "POST /api/events/{eventId}/allocations/{blockId}/invite",
        "GET /api/events/{eventId}/allocations/{blockId}/invoice.pdf",
        "POST /api/events/{eventId}/allocations/{blockId}/invoice/email",
        "POST /api/events/{eventId}/allocations/{blockId}/open-link",
        "POST /api/events/{eventId}/allocations/{blockId}/release-unused",
        "POST /api/events/{eventId}/allocations/{blockId}/remind",
        "POST /api/events/{eventId}/allocations/{blockId}/slots/{slotId}/revoke",
        "POST /api/events/{eventId}/allocations/quote",
        "GET /api/events/{eventId}/allocations/will-call",
        "POST /api/events/{eventId}/allocations/will-call/{slotId}/admit",
        "POST /api/events/{id}/notifications/audience-preview",
        "POST /api/events/{id}/notifications/broadcast",
        "GET /api/events/{id}/notifications/campaigns",
        "POST /api/events/{id}/notifications/campaigns/{campaignId}/duplicate",
        "GET /api/events/{id}/notifications/templates",
        "POST /api/events/{id}/notifications/upload-image",
        "GET /api/events/{id}/notifications/users/search",
    }
)
