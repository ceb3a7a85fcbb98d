#!/usr/bin/env bash
# /usr/local/bin/event-commerce: the program's own commands, as the service's account and with its settings.
#   event-commerce admin create        event-commerce outbox list --state dead
set -euo pipefail

release=${EVENT_COMMERCE_RELEASE:-/opt/event-commerce/current}
exec systemd-run --quiet --pty --pipe --wait --collect \
  --property=User=eventcommerce --property=Group=eventcommerce --property=UMask=0027 \
  --property=EnvironmentFile=/etc/event-commerce/environment \
  --property=WorkingDirectory="$release" \
  --setenv=PYTHONDONTWRITEBYTECODE=1 \
  "$release/.venv/bin/python" -m flask --app wsgi "$@"
