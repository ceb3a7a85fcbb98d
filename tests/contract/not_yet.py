"""Promised operations that do not exist yet. A test fails when one of them does: then it leaves this list."""

NOT_YET = frozenset(
    {
        "POST /api/events/{id}/notifications/audience-preview",
        "POST /api/events/{id}/notifications/broadcast",
        "GET /api/events/{id}/notifications/campaigns",
        "POST /api/events/{id}/notifications/campaigns/{campaignId}/duplicate",
        "GET /api/events/{id}/notifications/templates",
        "POST /api/events/{id}/notifications/upload-image",
        "GET /api/events/{id}/notifications/users/search",
    }
)
