#!/usr/bin/env bash
# Brings the running service to the version of the tree that this script stands in, without a failed request.
# docs/upgrading.md says what happens in which order, and how to go back.
#   deploy/upgrade.sh [NAME OF THE RELEASE]
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
home=/opt/event-commerce
old=$(readlink -f "$home/current")

step() { printf '\n── %s\n' "$*"; }
point() { ln -sfn "$1" "$home/.current" && mv -T "$home/.current" "$home/current"; }
# Whether what was just started stays up: systemd counts how often it had to start it again.
stay() {
  local unit units
  units=$(systemctl list-units --plain --no-legend "$@" | cut -d ' ' -f 1)
  for _ in {1..8}; do
    sleep 1
    for unit in $units; do
      [ "$(systemctl show --property=NRestarts --value "$unit")" = 0 ] || return 1
    done
  done
}
back() {
  echo "The new version does not start; the old one goes on. journalctl -u 'event-commerce-*' says why." >&2
  point "$old"
  "$old/deploy/units.sh"
  systemctl stop event-commerce-web@spare 2>/dev/null || true
  systemctl restart 'event-commerce-worker@*' event-commerce-relay
  systemctl try-restart event-commerce-streams 2>/dev/null || true
  exit 1
}

step "Release"
new=$("$here/release.sh" "$@")

step "Schema (the old version goes on with the new one)"
EVENT_COMMERCE_RELEASE=$new "$new/deploy/event-commerce.sh" db expand

step "Workers and relay"
point "$new"
"$new/deploy/units.sh"
systemctl restart 'event-commerce-worker@*' event-commerce-relay || back
stay 'event-commerce-worker@*' event-commerce-relay.service || back

step "Web: a spare helps out while main is exchanged"
systemctl start event-commerce-web@spare || back
systemctl restart event-commerce-web@main || back
# systemd warns that the socket could start it again: it starts main.
systemctl stop event-commerce-web@spare 2>/dev/null

step "Event streams (their clients reconnect)"
systemctl restart event-commerce-streams || back

step "nginx"
site=$(sed -n 's/^ *server_name \([^_;]*\);.*/\1/p' /etc/nginx/event-commerce/site.conf | head -n 1)
"$new/deploy/site.sh" "$site"
install -m 0755 "$new/deploy/event-commerce.sh" /usr/local/bin/event-commerce

curl --silent --show-error --fail --insecure --resolve "$site:443:127.0.0.1" "https://$site/ready"
printf '\n\nRunning %s; before it was %s.\n' "$new" "$old"
