#!/bin/sh
# Writes .env and the files in secrets/ that are missing, and leaves the others as they are.
#   deploy/make-secrets.sh https://pay.example.com
set -eu
cd "$(dirname "$0")/.."
url=${1:?the address at which payers reach the service, for example https://pay.example.com}
host=$(echo "$url" | sed -n 's|^https\{0,1\}://\([^/:]*\).*|\1|p')
: "${host:?$url is no http address}"

# Before 28.0 the neighbours of this machine reach ports that are published on 127.0.0.1 alone, and containers
# whose ports are not published.
engine=$(docker version --format '{{.Server.Version}}' 2> /dev/null) || engine=''
if [ -n "$engine" ] && [ "${engine%%.*}" -lt 28 ] && [ "${ALLOW_OLD_DOCKER:-}" != true ]; then
  echo "Docker Engine $engine is too old: install 28.0 or later. ALLOW_OLD_DOCKER=true goes on without." >&2
  exit 1
fi

# From the first moment nobody else can read the files.
umask 077
mkdir -p secrets
cd secrets
random() { head -c "$1" /dev/urandom | base64; }
password() { random 24 | tr '+/' '-_'; }
missing() { [ ! -s "$1" ]; }

for name in grafana temporal; do
  if missing "$name-password"; then password > "$name-password"; fi
done
for key in secrets-key webhooks-key notifications-key payers-key; do
  if missing "$key"; then echo "$(date +%Y-%m):$(random 32)" > "$key"; fi
done
for login in owner api worker webhooks admin retention console; do
  user=$login
  [ "$login" != owner ] || user=postgres
  if missing "$login-database-url"; then
    echo "postgres://$user:$(password)@postgres:5432/payments" > "$login-database-url"
  fi
done
# Empty until somebody registers the console at an identity provider, or has alerts sent.
for file in oidc-client-secret smtp-password alerts-webhook-url alerts-slack-url alerts-heartbeat-url; do
  [ -e "$file" ] || : > "$file"
done
# For a first look. deploy/certificate.sh puts your own in its place.
mkdir -p tls
if missing tls/certificate.pem; then
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 365 \
    -subj "/CN=$host" -addext "subjectAltName=DNS:$host" \
    -keyout tls/key.pem -out tls/new.pem 2> tls/log || { cat tls/log >&2; exit 1; }
  cat tls/key.pem >> tls/new.pem
  mv tls/new.pem tls/certificate.pem
  rm tls/key.pem tls/log
fi
# Compose mounts the files as they are, and no process of ours runs as root. The folder keeps others out.
find . -maxdepth 1 -type f -exec chmod 0444 {} +
chmod 0700 .

cd ..
[ -e .env ] || echo "PUBLIC_BASE_URL=$url" > .env
# Containers read these, also in a checkout that was made under another umask.
chmod -R a+rX deploy
