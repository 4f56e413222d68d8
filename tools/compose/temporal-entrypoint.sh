#!/bin/sh
# As the image of the project does it: the address for the other members is the container's own.
set -eu
if [ "${BIND_ON_IP:-}" = 0.0.0.0 ] && [ -z "${TEMPORAL_BROADCAST_ADDRESS:-}" ]; then
  TEMPORAL_BROADCAST_ADDRESS=$(awk -v name="$(hostname)" '$2 == name { print $1; exit }' /etc/hosts)
  export TEMPORAL_BROADCAST_ADDRESS
fi
exec temporal-server start
