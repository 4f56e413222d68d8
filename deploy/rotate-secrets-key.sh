#!/bin/sh
# Seals gateway credentials with a new SECRETS_KEY, webhook secrets with a new WEBHOOKS_KEY, and what checks
# gateways' notifications with a new NOTIFICATIONS_KEY. From then on a new PAYERS_KEY seals the data of payers, which nobody
# seals anew: they live for a day. No request fails. A run that stopped half-way can be repeated.
#   deploy/rotate-secrets-key.sh           new keys in front of the old ones, which still open backups
#   deploy/rotate-secrets-key.sh --retire  the newest keys alone; copies of the old files stay in secrets/. Of PAYERS_KEY
#                                          none stays, so that nobody reads the data of payers in old backups
set -eu
cd "$(dirname "$0")/.."
umask 077
# The process id keeps the key of a run that is repeated at once apart.
now=$(date -u +%Y-%m-%d-%H%M%S)-$$
admin() { docker compose run --rm -T admin "$@"; }
replace() {
  echo "$2" > "secrets/$1.new"
  chmod 0444 "secrets/$1.new"
  mv "secrets/$1.new" "secrets/$1"
}
renew() {
  deploy/renew.sh
  docker compose up -d --wait --no-deps --force-recreate console
}
seal() {
  # All know the new keys before anything is sealed with them.
  renew
  admin secrets reseal --reason 'deploy/rotate-secrets-key.sh'
}

if [ "${1:-}" != --retire ]; then
  for name in secrets-key webhooks-key notifications-key; do
    replace "$name" "$now:$(head -c 32 /dev/urandom | base64),$(cat "secrets/$name")"
  done
  # The API seals with the first key at once. So it is the last one until all know it.
  old=$(cat secrets/payers-key)
  new="$now:$(head -c 32 /dev/urandom | base64)"
  replace payers-key "$old,$new"
  seal
  replace payers-key "$new,$old"
  deploy/renew.sh api
  exit
fi

# It fails while an old key seals something, as after a rotation that stopped half-way.
admin secrets list-keys || { seal; admin secrets list-keys; }
for name in secrets-key webhooks-key notifications-key; do
  old=$(cat "secrets/$name")
  [ "$old" != "${old%%,*}" ] || continue
  (set -C; echo "$old" > "secrets/$name.$now")
  chmod 0400 "secrets/$name.$now"
  echo "secrets/$name.$now holds the old keys. Delete it when no backup needs them."
  replace "$name" "${old%%,*}"
done
old=$(cat secrets/payers-key)
if [ "$old" != "${old%%,*}" ]; then
  # Requests are repeated for 25 hours with fingerprints of the old key, and so long payments wait to be opened.
  if [ -n "$(find secrets/payers-key -mmin +1560)" ]; then
    replace payers-key "${old%%,*}"
  else
    echo 'secrets/payers-key keeps its old key, which is in use for 26 hours after a rotation. Then run --retire again.'
  fi
fi
renew
