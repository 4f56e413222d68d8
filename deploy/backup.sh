#!/bin/sh
# Copies the whole Postgres server, payments and Temporal to the same moment, while everything runs.
#   deploy/backup.sh                 into backups/payments-….tar.gz, whose name it prints
# Without Compose IN_POSTGRES runs a program as the superuser where Postgres runs:
#   IN_POSTGRES='runuser -u postgres --' deploy/backup.sh
set -eu
in_postgres=${IN_POSTGRES:-docker compose exec -T postgres}
cd "$(dirname "$0")/.."
umask 077
mkdir -p backups
file="backups/payments-$(date -u +%Y-%m-%dT%H%M%SZ).tar.gz"
$in_postgres pg_basebackup --pgdata=- --format=tar --gzip --wal-method=fetch \
  --checkpoint=fast > "$file.partial"
# kubectl exec may lose the end of a copy, and reports no error.
gzip --test < "$file.partial"
mv "$file.partial" "$file"
echo "$file"
# Its age is an alert. The backup itself has the time of the one before.
$in_postgres psql --quiet --dbname=payments \
  --command="update upkeep set done_at = now() where task = 'backup'"
