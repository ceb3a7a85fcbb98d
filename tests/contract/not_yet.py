"""Promised operations that do not exist yet. A test fails when one of them does: then it leaves this list."""

NOT_YET = frozenset(
    {
        "GET /api/events/{eventId}/inventory",
        "GET /api/events/{eventId}/inventory/export.csv",
        "POST /api/events/{eventId}/inventory/import",
        "POST /api/events/{eventId}/inventory/items",
        "PATCH /api/events/{eventId}/inventory/items/{itemId}",
        "POST /api/events/{eventId}/inventory/items/{itemId}/adjust",
        "GET /api/events/{eventId}/inventory/reminder",
        "PATCH /api/events/{eventId}/inventory/reminder",
        "POST /api/events/{eventId}/inventory/reminder/trigger",
        "POST /api/events/{eventId}/inventory/reorder/apply",
        "GET /api/events/{eventId}/inventory/reports",
        "GET /api/events/{eventId}/inventory/stream",
        "GET /api/events/{eventId}/inventory/variance",
        "GET /api/events/{eventId}/inventory/variance.csv",
        "POST /api/events/{id}/notifications/audience-preview",
        "POST /api/events/{id}/notifications/broadcast",
        "GET /api/events/{id}/notifications/campaigns",
        "POST /api/events/{id}/notifications/campaigns/{campaignId}/duplicate",
        "GET /api/events/{id}/notifications/templates",
        "POST /api/events/{id}/notifications/upload-image",
        "GET /api/events/{id}/notifications/users/search",
    }
)
