#!/bin/sh
# Puts a certificate with its chain, and its key, in force. No request fails.
#   deploy/certificate.sh fullchain.pem privkey.pem
set -eu
certificate=$(cat "${1:?the file with the certificate and its chain}")
key=$(cat "${2:?the file with its key}")
cd "$(dirname "$0")/.."
if [ "$(echo "$certificate" | openssl x509 -noout -pubkey)" != "$(echo "$key" | openssl pkey -pubout)" ]; then
  echo 'The key is not the one of the certificate.' >&2
  exit 1
fi
# Into the files that are there: the container would not see new ones.
chmod u+w secrets/tls-certificate secrets/tls-key
echo "$certificate" > secrets/tls-certificate
echo "$key" > secrets/tls-key
chmod 0444 secrets/tls-certificate secrets/tls-key
if [ -n "$(docker compose ps --quiet proxy)" ]; then
  docker compose exec -T proxy caddy reload --force --config /etc/caddy/Caddyfile
fi
