#!/usr/bin/env bash
# Starts the service in containers, and brings a running one to the tree that this script stands in: image, database,
# schema, workers, web. Run it again at any time.
#   deploy/containers.sh
#   deploy/containers.sh exec web python -m flask --app wsgi admin create     whatever compose can do
#   SCHEMA=keep deploy/containers.sh     one version back: the schema stays
# ENGINE (podman) and COMPOSE (podman-compose) name the programs: ENGINE=docker COMPOSE='docker compose'. BUILD_OPTIONS
# go to the build, for who has a mirror of packages: --build-arg, --volume, --network.
set -euo pipefail
cd "$(dirname "$0")/.."

engine=${ENGINE:-podman}
read -ra program <<<"${COMPOSE:-podman-compose}"
read -ra options <<<"${BUILD_OPTIONS:-}"
spare=event-commerce-spare

step() { printf '\n── %s\n' "$*"; }
compose() { "${program[@]}" --env-file deploy/compose.env -f deploy/compose.yaml "$@"; }
patiently() {
  for _ in {1..60}; do
    if "$@" >/dev/null 2>&1; then return; fi
    sleep 1
  done
  echo "No answer within a minute: $*" >&2
  return 1
}
asked='import sys, urllib.request; print(urllib.request.urlopen("http://127.0.0.1:8000" + sys.argv[1], timeout=5).read().decode())'
no_spare() {
  "$engine" stop -t 40 "$spare" >/dev/null 2>&1 || true
  "$engine" rm -f "$spare" >/dev/null 2>&1 || true
}

for each in deploy/compose.env deploy/tls/fullchain.pem deploy/tls/privkey.pem; do
  [ -s "$each" ] || { echo "$each is missing: docs/deployment.md, Containers." >&2; exit 1; }
done

[ $# = 0 ] || { compose "$@"; exit; }

step "Image"
"$engine" build "${options[@]}" -t localhost/event-commerce -f deploy/Containerfile .

step "PostgreSQL and Redis"
compose up -d postgres redis
# Over the network: while it makes itself for the first time, PostgreSQL answers on its own socket already.
patiently compose exec -T postgres pg_isready -h 127.0.0.1 -U eventcommerce -d event_commerce

if [ "${SCHEMA:-}" != keep ]; then
  step "Schema (the old version goes on with the new one)"
  compose run --rm -T web python -m flask --app wsgi db expand
fi

step "Workers, relay and event streams"
compose up -d --force-recreate worker relay streams

step "Web: a spare helps out while its container is exchanged"
trap no_spare EXIT
no_spare
compose run -d --name "$spare" -e BIND=unix:/run/event-commerce/spare.sock,127.0.0.1:8000 web
patiently "$engine" exec "$spare" python -c "$asked" /health
compose up -d --force-recreate web
patiently compose exec -T web python -c "$asked" /health
no_spare

step "nginx"
compose up -d nginx
patiently compose exec -T nginx /bin/sh /site/start.sh reload

compose exec -T web python -c "$asked" /ready
