"""Rates that an operation and its page share, so that neither is a way around the other."""

from app.web.limits import Limit

ASKING_FOR_MAIL = Limit(20)
TRYING_CODES = Limit(60)
