#!/bin/sh
# Puts a certificate with its chain, and its key, in force. No request fails.
#   deploy/certificate.sh fullchain.pem privkey.pem
set -eu
certificate=$(cat "${1:?the file with the certificate and its chain}")
key=$(cat "${2:?the file with its key}")
cd "$(dirname "$0")/../secrets/tls"
if [ "$(echo "$certificate" | openssl x509 -noout -pubkey)" != "$(echo "$key" | openssl pkey -pubout)" ]; then
  echo 'The key is not the one of the certificate.' >&2
  exit 1
fi
umask 077
printf '%s\n' "$certificate" "$key" > new.pem
# At once and whole: the proxy reads the file at every handshake.
mv new.pem certificate.pem
