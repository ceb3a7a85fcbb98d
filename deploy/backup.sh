#!/usr/bin/env bash
# One backup: the database as it is at one moment, the files that it names, and checksums of both, in a folder of its
# own below FOLDER. The service goes on meanwhile. Ends with 0 only once the dump has been read back.
#   deploy/backup.sh FOLDER
# Reads DATABASE_URL (or DATABASE_DIRECT_URL, where that is a pooler), STORAGE_URL and DATA_DIR. KEEP_DAYS (14): older
# backups go, but never the last three.
# AFTER_BACKUP: a command that is given the new folder, to take it off the machine (rclone copy …, rsync …).
set -euo pipefail
umask 077

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=deploy/database.sh
source "$here/database.sh"

folder=${1:?"the folder for backups"}
keep=${KEEP_DAYS:-14}
name=$(date -u +%Y%m%dT%H%M%SZ)
new=$folder/.$name.$$

database_environment "${DATABASE_DIRECT_URL:-${DATABASE_URL:?}}"
mkdir -p "$new"
trap 'rm -rf "$new"' EXIT

# First the rows, then the files: a file is written before the row that names it, so none of them is missing.
pg_dump --format=custom --compress=6 --no-owner --no-privileges --lock-wait-timeout=10s --file="$new/database.dump"

storage=${STORAGE_URL:-file://${DATA_DIR:-var}/storage}
if [[ $storage == file://* ]]; then
  files=${storage#file://}
  mkdir -p "$files"
  # A file that goes or comes while tar reads is one that the dump does not need: exit code 1, and no failure.
  tar --create --gzip --file="$new/files.tar.gz" --directory="$files" --warning=no-file-changed \
    --warning=no-file-removed --exclude='*#[0-9]*' . || [ $? = 1 ]
else
  echo "Files are in ${storage%%\?*} without a copy here: let the store keep versions." | sed 's#//[^/@]*@#//#' >"$new/files.txt"
fi

pg_restore --list "$new/database.dump" >"$new/contents.txt"
(cd "$new" && sha256sum -- * >checksums)
sync -f "$new"
mv "$new" "$folder/$name"

# shellcheck disable=SC2012 # the names are ours
ls -1d "$folder"/????????T??????Z | head -n -3 | while read -r old; do
  [ -z "$(find "$old" -maxdepth 0 -mtime "+$keep")" ] || rm -rf "$old"
done

[ -z "${AFTER_BACKUP:-}" ] || bash -c "$AFTER_BACKUP \"\$1\"" after "$folder/$name"
echo "$folder/$name"
