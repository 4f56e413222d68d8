#!/bin/sh
# Replaces processes without a failed request: new ones stand beside the old ones before these stop.
# They run the image, .env, secrets and docker-compose.yml of now.
#   deploy/renew.sh                      all of them
#   deploy/renew.sh api                  those of one service
set -eu
cd "$(dirname "$0")/.."
# The api may ask for what only a new worker understands, so it comes last.
[ $# -gt 0 ] || set -- worker-payments worker-webhooks api

for service; do
  old=$(docker compose ps --all --quiet "$service")
  [ -n "$old" ] || { echo "$service is not there: docker compose up -d --wait" >&2; exit 1; }
  twice=$(($(echo "$old" | wc -l) * 2))
  if ! docker compose up -d --wait --no-deps --no-recreate --scale "$service=$twice" "$service"; then
    new=$(docker compose ps --all --quiet "$service" | grep -vxF "$old")
    for container in $new; do docker logs --tail 5 "$container" >&2 || true; done
    # The old ones go on. The new ones would count as old at the next try.
    docker rm --force $new > /dev/null
    echo "The new $service did not become healthy and is removed; its last lines are above." >&2
    exit 1
  fi
  docker stop $old > /dev/null
  docker rm $old > /dev/null
done
