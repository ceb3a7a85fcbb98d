"""What a person wants to receive, and their devices, in the copy of their data. The token of a device is a secret."""

from sqlalchemy import select

from app.accounts.data_export import ExportOwner, export_part, list_rows
from app.subscriptions.models import ChannelPreference, PushDevice, Suppression, Unsubscribe


@export_part("subscriptions")
def export_subscriptions(owner: ExportOwner) -> dict[str, object]:
    is_own_preference = ChannelPreference.account_id == owner.account_id
    is_own_device = PushDevice.account_id == owner.account_id
    parts = {
        "preferences": select(ChannelPreference.channel, ChannelPreference.wanted, ChannelPreference.updated_at).where(
            is_own_preference
        ),
        "devices": select(PushDevice.platform, PushDevice.created_at, PushDevice.seen_at).where(is_own_device),
        "unsubscribed": select(Unsubscribe.address, Unsubscribe.organiser_id, Unsubscribe.created_at).where(
            Unsubscribe.address == owner.email
        ),
        "undeliverable": select(Suppression.channel, Suppression.address, Suppression.reason).where(
            Suppression.channel == "email", Suppression.address == owner.email
        ),
    }
    rows = {name: list_rows(query) for name, query in parts.items()}
    return {name: part for name, part in rows.items() if part}
