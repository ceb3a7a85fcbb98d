#!/usr/bin/env bash
# Puts the service on a bare Debian 12 machine, behind nginx with TLS. Run it as root, as often as you like:
# what is there is kept. docs/deployment.md says what it does, and what comes after.
#   deploy/install.sh festival.example
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
site=${1:?"the name of the site, for example festival.example"}
[[ $site =~ ^[a-z0-9.-]+$ ]] || { echo "'$site' is no host name (lower-case letters, digits, dots)." >&2; exit 1; }
[ "$(id -u)" = 0 ] || { echo "Run it as root." >&2; exit 1; }

step() { printf '\n── %s\n' "$*"; }

step "Packages"
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -y -qq --no-install-recommends \
  nginx postgresql redis-server python3-venv procps openssl ca-certificates curl >/dev/null
systemctl enable --quiet --now postgresql redis-server

step "Account and folders"
getent passwd eventcommerce >/dev/null ||
  adduser --quiet --system --group --home /var/lib/event-commerce --no-create-home --shell /usr/sbin/nologin eventcommerce
install -d -m 0755 /opt/event-commerce /etc/event-commerce /var/www/acme
install -d -m 0751 -o eventcommerce -g eventcommerce /var/lib/event-commerce /var/lib/event-commerce/storage
# nginx may read pictures, and nothing else: what lands in this folder belongs to its group.
install -d -m 2750 -o eventcommerce -g www-data /var/lib/event-commerce/storage/media
install -d -m 0700 -o eventcommerce -g eventcommerce /var/backups/event-commerce
install -d -m 0700 -o www-data -g root /var/cache/nginx/event-commerce

step "Database"
as_postgres() { (cd / && runuser -u postgres -- "$@"); }
as_postgres psql -qAt -c "SELECT 1 FROM pg_roles WHERE rolname = 'eventcommerce'" | grep -q 1 ||
  as_postgres createuser eventcommerce
as_postgres psql -qAt -c "SELECT 1 FROM pg_database WHERE datname = 'event_commerce'" | grep -q 1 ||
  as_postgres createdb --owner=eventcommerce --encoding=UTF8 --locale=C.UTF-8 --template=template0 event_commerce

step "Settings"
settings=/etc/event-commerce/environment
if [ ! -e "$settings" ]; then
  install -m 0640 -o root -g eventcommerce /dev/null "$settings"
  sed -e "s/festival\.example/$site/g" \
    -e "s/^SECRET_KEY=.*/SECRET_KEY='$(openssl rand -hex 32)'/" \
    -e "s/^BOOTSTRAP_SECRET=.*/BOOTSTRAP_SECRET='$(openssl rand -hex 16)'/" \
    "$here/environment.example" >"$settings"
fi
install -m 0755 "$here/event-commerce.sh" /usr/local/bin/event-commerce

step "Program (two minutes)"
if [ ! -e /opt/event-commerce/current ]; then
  release=$("$here/release.sh")
  ln -s "$release" /opt/event-commerce/current
fi
/usr/local/bin/event-commerce db upgrade

step "Services"
"$here/units.sh"
systemctl enable --quiet --now event-commerce.target event-commerce-backup.timer

step "nginx and TLS"
"$here/site.sh" "$site"

step "Does it answer?"
curl --silent --fail --retry 20 --retry-connrefused --retry-delay 1 --retry-all-errors --insecure \
  --resolve "$site:443:127.0.0.1" "https://$site/ready" ||
  { echo "It does not. journalctl -u 'event-commerce-*' and /var/log/nginx say why." >&2; exit 1; }
printf '\n\nhttps://%s is up. Next: a certificate, a mail server, an admin (docs/deployment.md).\n' "$site"
