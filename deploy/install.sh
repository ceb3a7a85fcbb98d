#!/usr/bin/env bash
# Puts the service on a bare Debian 12 machine, behind nginx with TLS. Run it as root, as often as you like:
# what is there is kept. docs/deployment.md says what it does, and what comes after. Where settings lie already that name
# PostgreSQL and Redis on another machine, it installs none here: that is how a second node begins (docs/scaling.md).
#   deploy/install.sh festival.example
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
site=${1:?"the name of the site, for example festival.example"}
[[ $site =~ ^[a-z0-9.-]+$ ]] || { echo "'$site' is no host name (lower-case letters, digits, dots)." >&2; exit 1; }
[ "$(id -u)" = 0 ] || { echo "Run it as root." >&2; exit 1; }

step() { printf '\n── %s\n' "$*"; }

settings=/etc/event-commerce/environment
# Whether a server is to be on this machine: without settings yet, or when they name one that is here.
ours() { ! grep -q "^$1=" "$settings" 2>/dev/null || grep -Eq "^$1=.*([@/](localhost|127\.0\.0\.1)|host=/|unix:)" "$settings"; }
servers=()
! ours DATABASE_URL || servers+=(postgresql)
! ours REDIS_URL || servers+=(redis-server)

step "Packages"
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -y -qq --no-install-recommends \
  nginx "${servers[@]}" postgresql-client python3-venv procps openssl ca-certificates curl >/dev/null
[ ${#servers[@]} = 0 ] || systemctl enable --quiet --now "${servers[@]}"

step "Account and folders"
getent passwd eventcommerce >/dev/null ||
  adduser --quiet --system --group --home /var/lib/event-commerce --no-create-home --shell /usr/sbin/nologin eventcommerce
install -d -m 0755 /opt/event-commerce /etc/event-commerce /var/www/acme
install -d -m 0751 -o eventcommerce -g eventcommerce /var/lib/event-commerce /var/lib/event-commerce/storage
# nginx may read pictures, and nothing else: what lands in this folder belongs to its group.
install -d -m 2750 -o eventcommerce -g www-data /var/lib/event-commerce/storage/media
install -d -m 0700 -o eventcommerce -g eventcommerce /var/backups/event-commerce
install -d -m 0700 -o www-data -g root /var/cache/nginx/event-commerce

if ours DATABASE_URL; then
  step "Database"
  as_postgres() { (cd / && runuser -u postgres -- "$@"); }
  as_postgres psql -qAt -c "SELECT 1 FROM pg_roles WHERE rolname = 'eventcommerce'" | grep -q 1 ||
    as_postgres createuser eventcommerce
  as_postgres psql -qAt -c "SELECT 1 FROM pg_database WHERE datname = 'event_commerce'" | grep -q 1 ||
    as_postgres createdb --owner=eventcommerce --encoding=UTF8 --locale=C.UTF-8 --template=template0 event_commerce
fi

step "Settings"
if [ ! -e "$settings" ]; then
  install -m 0640 -o root -g eventcommerce /dev/null "$settings"
  sed -e "s/festival\.example/$site/g" \
    -e "s/^SECRET_KEY=.*/SECRET_KEY='$(openssl rand -hex 32)'/" \
    -e "s/^BOOTSTRAP_SECRET=.*/BOOTSTRAP_SECRET='$(openssl rand -hex 16)'/" \
    "$here/environment.example" >"$settings"
fi
# Those of another node came before the account did.
chown root:eventcommerce "$settings" && chmod 0640 "$settings"
install -m 0755 "$here/event-commerce.sh" /usr/local/bin/event-commerce

step "Program (two minutes)"
if [ ! -e /opt/event-commerce/current ]; then
  release=$("$here/release.sh")
  ln -s "$release" /opt/event-commerce/current
fi
# A node that joins others leaves them a schema that they work with.
/usr/local/bin/event-commerce db expand

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
