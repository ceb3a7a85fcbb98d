"""The ways by which a message reaches a person, and the kinds of devices."""

CHANNELS = ("email", "sms", "push")
PLATFORMS = ("android", "ios", "web")
