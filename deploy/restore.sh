#!/bin/sh
# Unpacks a backup into an empty volume, and starts Postgres alone. It lists the payments whose checkout may be lost,
# prints what admins have to repeat, and starts the rest after an answer. It writes over no data:
#   docker compose down && docker volume rm payments_postgres
#   deploy/restore.sh backups/payments-….tar.gz
#   deploy/restore.sh backups/payments-….tar.gz --yes    for scripts: without the question
set -eu
cd "$(dirname "$0")/.."
once() { docker compose run --rm --no-deps -T "$@"; }
once --entrypoint bash postgres -euc '
  if [ -e "$PGDATA" ]; then
    echo "There is data: docker compose down && docker volume rm payments_postgres" >&2
    exit 1
  fi
  new="$(dirname "$PGDATA")/new"
  rm -rf "$new"
  install --directory --owner=postgres --group=postgres --mode=0700 "$(dirname "$PGDATA")" "$new"
  tar --extract --gzip --directory="$new"
  taken=$(sed -n "s/^START TIME: //p" "$new/backup_label")
  age="of unknown age"
  if then=$(date --date="$taken" +%s); then
    minutes=$((($(date +%s) - then) / 60))
    age="$((minutes / 60)) h $((minutes % 60)) min ago"
  fi
  mv --no-target-directory "$new" "$PGDATA"
  echo "The backup is of $taken, $age."' < "${1:?the file of the backup}"
docker compose up -d --wait --no-deps postgres
# Without a standard input, which has the answer to the question.
for job in logins migrations roles; do once "$job" < /dev/null; done
docker compose exec -T postgres psql --quiet --dbname=payments --pset=footer=off < deploy/after-restore.sql

cat << 'END'
Only Postgres runs. All logins and links of the console have ended. Repeat what admins have changed since the backup,
with docker compose run --rm --no-deps admin …; the audit log of that time is lost, too:
  tokens revoke and replace, secrets retire, applications disable and update, gateways disable and update,
  console remove for people who have left or have lost a passkey.
Then compare the books of every gateway: nobody verifies or refunds a payment that was created since the backup.
docs/operating/restoring.md says more.
END
if [ "${2:-}" != --yes ]; then
  printf 'Start everything? (yes/no) '
  read -r answer || answer=no
  if [ "$answer" != yes ]; then
    echo 'Nothing else has started. When you are ready: docker compose up -d --wait'
    exit 1
  fi
fi
docker compose up -d --wait
once admin reconcile
