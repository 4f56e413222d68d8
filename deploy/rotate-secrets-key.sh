#!/bin/sh
# Seals gateway credentials and webhook secrets with a new SECRETS_KEY, and what checks gateways' notifications
# with a new NOTIFICATIONS_KEY. No request fails.
#   deploy/rotate-secrets-key.sh           new keys in front of the old ones, which still open backups
#   deploy/rotate-secrets-key.sh --retire  the newest keys alone
set -eu
cd "$(dirname "$0")/.."
umask 077
for name in secrets-key notifications-key; do
  old=$(cat "secrets/$name")
  if [ "${1:-}" = --retire ]; then
    keys=${old%%,*}
  else
    keys="$(date -u +%Y-%m-%d-%H%M%S):$(head -c 32 /dev/urandom | base64),$old"
  fi
  echo "$keys" > "secrets/$name.new"
  chmod 0444 "secrets/$name.new"
  mv "secrets/$name.new" "secrets/$name"
done
# All know the new keys before anything is sealed with them.
deploy/renew.sh
docker compose up -d --wait --no-deps --force-recreate console
docker compose run --rm -T admin secrets reseal --reason 'deploy/rotate-secrets-key.sh'
