"""The channels of messages, and the platforms of push devices."""

CHANNELS = ("email", "sms", "push")
PLATFORMS = ("android", "ios", "web")
