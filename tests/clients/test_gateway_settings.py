"""Gateway URLs that stop the start."""

import pytest

from app.config import SettingsError, load
from tests.settings import SECRET_KEY

PRODUCTION = {
    "APP_ENV": "production",
    "SECRET_KEY": SECRET_KEY,
    "DATABASE_URL": "postgresql://db/x",
    "REDIS_URL": "redis://r",
    "PAYRAIL_ALLOW_MOCK": "1",
}


@pytest.mark.parametrize("name", ["SMS_URL", "PUSH_URL"])
@pytest.mark.parametrize("url", ["gateway.example", "ftp://gateway.example", "https://", "https://g.example/?a=b"])
def test_an_address_that_is_none_stops_the_start(name: str, url: str) -> None:
    with pytest.raises(SettingsError, match=f"{name}: must be an http"):
        load({name: url})


def test_production_sends_no_secret_unencrypted() -> None:
    with pytest.raises(SettingsError, match="SMS_URL: production needs https"):
        load({**PRODUCTION, "SMS_URL": "http://token@gateway.example/"})
    assert load({**PRODUCTION, "SMS_URL": "https://token@gateway.example/sms"}).SMS_URL
    assert load({"SMS_URL": "http://localhost:1"}).SMS_URL
