"""SQL text of merchants, for other domains."""


def has_switched_channel_off_sql(address: str, channel: str) -> str:
    """SQL: whether the merchant with this verified, lower-case e-mail address has switched the channel off."""
    return f"""EXISTS (SELECT FROM account JOIN merchant ON merchant.account_id = account.id
        AND merchant.profile_id IS NOT NULL AND merchant.settings -> 'notifications' ->> CAST({channel} AS text) = 'false'
        WHERE account.email = {address} AND account.email_verified_at IS NOT NULL)"""


HAS_SWITCHED_MAIL_OFF = "SELECT " + has_switched_channel_off_sql("%(address)s", "'email'")
