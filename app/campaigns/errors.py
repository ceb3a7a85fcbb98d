"""Errors of campaigns."""

from app.core.errors import Conflict


class CampaignFrozen(Conflict):
    number, code = 40955, "CAMPAIGN_FROZEN"
    message = "The campaign is being sent or was cancelled, so it cannot be changed; duplicate it to make another."


class CampaignStarted(Conflict):
    number, code = 40956, "CAMPAIGN_STARTED"
    message = "Sending has begun, so the campaign can no longer be cancelled; data.status is its state."


class NothingUncertain(Conflict):
    number, code = 40957, "NOTHING_UNCERTAIN"
    message = "None of these messages is uncertain, so there is nothing to send again; list the uncertain ones first."


class NoReachableChannel(Conflict):
    number, code = 40958, "NO_WAY_TO_YOU"
    message = "None of these channels reaches you: save a phone number or register a device, and try again."
