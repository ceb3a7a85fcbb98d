#!/usr/bin/env bash
# Puts a backup into an empty database and an empty folder of files. Nothing that is there is ever overwritten: make a
# fresh database, name it in DATABASE_URL, and let the old one be until you have looked at the new one.
#   deploy/restore.sh BACKUP
# Reads DATABASE_URL, STORAGE_URL and DATA_DIR. Asks first; CONFIRM=<name of the database> answers in advance.
set -euo pipefail
umask 027

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=deploy/database.sh
source "$here/database.sh"

backup=${1:?"the folder of one backup"}
stop() { echo "$*" >&2; exit 1; }

database_environment "${DATABASE_URL:?}"
[ -e "$backup/database.dump" ] || stop "$backup holds no database.dump."
(cd "$backup" && sha256sum --quiet --check checksums) || stop "$backup is damaged; take another one."

tables=$(psql -qAt -v ON_ERROR_STOP=1 -c \
  "SELECT count(*) FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace
    WHERE nspname NOT LIKE 'pg\_%' AND nspname <> 'information_schema' AND relkind IN ('r', 'p')") ||
  stop "The database $PGDATABASE cannot be reached. createdb makes it: restore.sh does not."
[ "$tables" = 0 ] || stop "The database $PGDATABASE holds $tables tables. Restore into an empty one."

storage=${STORAGE_URL:-file://${DATA_DIR:-var}/storage}
files=
if [ -e "$backup/files.tar.gz" ]; then
  [[ $storage == file://* ]] || stop "The backup has files, and STORAGE_URL names no folder for them."
  files=${storage#file://}
  [ -z "$(find "$files" -type f -print -quit 2>/dev/null)" ] || stop "$files holds files. Restore into an empty folder."
fi

echo "Restore $backup"
echo "   into the database $PGDATABASE${PGHOST:+ at $PGHOST}${files:+ and the folder $files}."
if [ -z "${CONFIRM:-}" ]; then
  read -r -p "Type the name of the database to go on: " CONFIRM
fi
[ "$CONFIRM" = "$PGDATABASE" ] || stop "Nothing was done."

pg_restore --exit-on-error --single-transaction --no-owner --no-privileges --dbname="$PGDATABASE" "$backup/database.dump"
PGOPTIONS="-c client_min_messages=error" psql -qAt -v ON_ERROR_STOP=1 -c "ANALYZE" >/dev/null
if [ -n "$files" ]; then
  mkdir -p "$files"
  # Files alone: folders that are there keep their modes, and with them what nginx may read.
  members=$(mktemp)
  trap 'rm -f "$members"' EXIT
  tar --list --gzip --file="$backup/files.tar.gz" | sed '/\/$/d' >"$members"
  tar --extract --gzip --file="$backup/files.tar.gz" --directory="$files" --no-same-owner --no-same-permissions \
    --verbatim-files-from --files-from="$members"
fi

cat <<'NEXT'
Restored. Before the service starts on it:
   event-commerce db upgrade          the schema of this version
   event-commerce ledger verify       the books
   event-commerce inventory verify    the stock
   event-commerce outbox list         what will be sent as soon as a relay runs; what went out between the backup and
                                      the loss is among it, and mail goes out a second time
NEXT
