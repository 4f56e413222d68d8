#!/bin/sh
# Unpacks a backup into an empty volume and starts everything. It writes over no data:
#   docker compose down && docker volume rm payments_postgres
#   deploy/restore.sh backups/payments-….tar.gz
set -eu
cd "$(dirname "$0")/.."
docker compose run --rm --no-deps -T --entrypoint bash postgres -euc '
  if [ -e "$PGDATA" ]; then
    echo "There is data: docker compose down && docker volume rm payments_postgres" >&2
    exit 1
  fi
  new="$(dirname "$PGDATA")/new"
  rm -rf "$new"
  install --directory --owner=postgres --group=postgres --mode=0700 "$(dirname "$PGDATA")" "$new"
  tar --extract --gzip --directory="$new"
  mv --no-target-directory "$new" "$PGDATA"' < "${1:?the file of the backup}"
docker compose up -d --wait
docker compose run --rm -T admin reconcile
