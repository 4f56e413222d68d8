#!/bin/sh
# Brings the checked-out version into force. A step that fails stops it, and the running processes go on.
#   deploy/upgrade.sh
#   deploy/upgrade.sh --back        to the minor version before: it works on the newer schema
set -eu
cd "$(dirname "$0")/.."
once() { docker compose run --rm --no-deps -T "$@"; }
# Recreates only what the version changes.
current() { docker compose up -d --wait --no-deps "$@"; }

chmod -R a+rX deploy
docker compose build

if [ "${1:-}" = --back ]; then
  deploy/renew.sh api worker-payments worker-webhooks
  # Workflows that the newer version has taken another way begin again.
  once worker-payments node worker/replay-open.ts --reset
else
  # Payments that began on the version that runs must go on with this one's workflows. It changes nothing.
  once worker-payments node worker/replay-open.ts
  current postgres
  once logins
  once temporal-schema
  current temporal temporal-ui temporal-ui-door
  once namespace
  once migrations
  once roles
  deploy/renew.sh
fi
current proxy console
docker compose exec -T proxy caddy reload --config /etc/caddy/Caddyfile
