"""A merchant's part in the copy of a person's data: their business, with the whole payout details, which are theirs."""

from sqlalchemy import select

from app.accounts.data_export import ExportOwner, export_part
from app.core.db import db
from app.merchants.models import Merchant, MerchantProfile
from app.merchants.payout_details import decrypt_payout_details
from app.merchants.queries import OWN_MERCHANT_ROW, get_effective_settings


@export_part("business")
def export_business(owner: ExportOwner) -> dict[str, object]:
    query = (
        select(
            MerchantProfile.business_name,
            MerchantProfile.stall_name,
            MerchantProfile.category,
            MerchantProfile.city,
            Merchant.status,
            Merchant.floor_status,
            Merchant.paused_at,
            Merchant.settings,
            Merchant.payout_details,
        )
        .outerjoin(Merchant, OWN_MERCHANT_ROW)
        .where(MerchantProfile.account_id == owner.account_id)
    )
    row = db.session.execute(query).mappings().one_or_none()
    if row is None:
        return {}
    payout_details = decrypt_payout_details(owner.account_id, row["payout_details"])
    return {**row, "settings": get_effective_settings(row["settings"]), "payout_details": payout_details}
