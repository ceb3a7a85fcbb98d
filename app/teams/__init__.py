"""Teams of organisers and merchants: members, invitations, ownership, devices and API keys."""
