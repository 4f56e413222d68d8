#!/bin/sh
# Practises a restore on this machine, with a fake Stripe whose book went on after the backup. It touches no deployment
# and needs a checkout after npm ci, but no Docker.
#   deploy/restore-drill.sh [payments] [refunds]
set -eu
cd "$(dirname "$0")/.."
exec npm run --silent restore-drill -- "$@"
