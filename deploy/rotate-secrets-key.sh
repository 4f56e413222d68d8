#!/bin/sh
# Seals gateway credentials and webhook secrets with a new SECRETS_KEY. No request fails.
#   deploy/rotate-secrets-key.sh           the new key in front of the old ones, which still open backups
#   deploy/rotate-secrets-key.sh --retire  the newest key alone
set -eu
cd "$(dirname "$0")/.."
old=$(cat secrets/secrets-key)
if [ "${1:-}" = --retire ]; then
  keys=${old%%,*}
else
  keys="$(date -u +%Y-%m-%d-%H%M%S):$(head -c 32 /dev/urandom | base64),$old"
fi
umask 077
echo "$keys" > secrets/secrets-key.new
chmod 0444 secrets/secrets-key.new
mv secrets/secrets-key.new secrets/secrets-key
# All know the new key before anything is sealed with it.
deploy/renew.sh
docker compose run --rm -T admin secrets reseal --reason 'deploy/rotate-secrets-key.sh'
