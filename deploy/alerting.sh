#!/bin/sh
# Sends alerts to people: writes deploy/alertmanager.yml from .env and secrets/, checks it, and puts it in force.
#   deploy/alerting.sh           after each change of them
#   deploy/alerting.sh --test    sends one alert to every receiver
#   deploy/alerting.sh --print FOLDER [MOUNTED]    prints the file for an Alertmanager of yours: FOLDER has payments.env and
#                                the secrets, which Alertmanager finds in MOUNTED
set -eu
cd "$(dirname "$0")/.."
fail() {
  echo "$1" >&2
  exit 2
}
env=.env secrets=secrets mounted=/run/secrets
amtool() { docker compose run --rm --no-deps --entrypoint amtool alertmanager "$@"; }

case "${1:-}" in
  '') ;;
  --print) secrets=${2:?the folder} mounted=${3:-$2} env=$2/payments.env ;;
  --test)
    # Each is another alert, so that a second one also arrives at once.
    docker compose exec -T alertmanager amtool --alertmanager.url=http://localhost:9093 alert add \
      PaymentsTest severity=page sent="$(date -u +%Y-%m-%dT%H:%M:%SZ) $$" \
      --annotation=summary='This is a test. Nothing is wrong.'
    echo 'Sent. Every receiver gets it now, and hears within 7 minutes that it is over.'
    echo 'If one does not, `docker compose logs alertmanager` has the reason.'
    exit 0
    ;;
  *) fail 'Usage: deploy/alerting.sh [--test | --print FOLDER [MOUNTED]]' ;;
esac

# The last line counts, and spaces and ends of lines of another system do not, as for Compose.
setting() {
  tr -d '\r' < "$env" | sed -n "s/^ *$1 *= *//p" | tail -n 1 | sed "s/ *\$//; s/^'\(.*\)'\$/\1/; s/^\"\(.*\)\"\$/\1/"
}
has() { grep -q '[^[:space:]]' "$secrets/$1"; }
url() {
  has "$1" || return 0
  [ "$(wc -l < "$secrets/$1")" -le 1 ] && tr -d '\r' < "$secrets/$1" | grep -Eq '^https?://[^[:space:]]+$' ||
    fail "$secrets/$1 is no address: one line, which begins with https://."
}

[ -e "$env" ] && [ -d "$secrets" ] || fail 'Run deploy/make-secrets.sh first.'
to=$(setting ALERTS_TO) from=$(setting SMTP_FROM) host=$(setting SMTP_HOST) user=$(setting SMTP_USER)
port=$(setting SMTP_PORT)
port=${port:-587}
# Alertmanager greets a mail server as localhost, which some refuse. An address stands in brackets there.
hello=$(setting PUBLIC_BASE_URL | sed -En 's#^https?://([A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+)\.?([:/].*)?$#\1#p')
case "$hello" in '' | *[!0-9.]*) ;; *) hello="[$hello]" ;; esac
for file in smtp-password alerts-webhook-url alerts-slack-url alerts-heartbeat-url; do
  [ -f "$secrets/$file" ] || fail "$secrets/$file is no file: without one, deploy/make-secrets.sh adds an empty one."
  [ -r "$secrets/$file" ] || fail "$secrets/$file cannot be read by you."
  # Compose mounts it as it is, and Alertmanager is another user.
  [ "$env" != .env ] || case "$(ls -lL "$secrets/$file")" in
    -??????r*) ;;
    *) fail "$secrets/$file cannot be read by Alertmanager: chmod 0444 $secrets/$file" ;;
  esac
done
for file in alerts-webhook-url alerts-slack-url alerts-heartbeat-url; do url "$file"; done
# They stand between quotes in the file that is written.
for name in ALERTS_TO SMTP_FROM SMTP_HOST SMTP_USER SMTP_PORT; do
  case "$(setting "$name")" in
    *[!A-Za-z0-9@.,:_+=/-]*) fail "$name in $env has a character that no address has." ;;
  esac
done
[ -z "$to" ] || [ -n "$(echo "$to" | tr -d ',')" ] || fail "ALERTS_TO in $env has no address."
[ -n "$to" ] || has alerts-webhook-url || has alerts-slack-url ||
  fail "Nobody would get an alert: set ALERTS_TO in $env, or write $secrets/alerts-webhook-url or $secrets/alerts-slack-url."
if [ -n "$to" ]; then
  [ -n "$host" ] || fail "ALERTS_TO needs SMTP_HOST in $env, the server that takes mail."
  echo "$port" | grep -Eq '^[1-9][0-9]{0,4}$' && [ "$port" -le 65535 ] || fail "SMTP_PORT in $env is no port."
  echo "$host" | grep -Eq '^[A-Za-z0-9.-]+$' || fail "SMTP_HOST in $env is a name without a port, see SMTP_PORT."
  for address in $(echo "$to,$from" | tr ',' ' '); do
    echo "$address" | grep -Eq '^[A-Za-z0-9._+=-]+@[A-Za-z0-9.-]+$' || fail "ALERTS_TO or SMTP_FROM in $env: $address is no mail address."
  done
  [ -n "$from" ] || fail "ALERTS_TO needs SMTP_FROM in $env, the address that sends."
  if [ -n "$user" ] && ! has smtp-password; then fail "SMTP_USER needs $secrets/smtp-password."; fi
fi

# What people read. It names no order and no payment: what an alert is about stands in the summary.
text='"{{ range .Alerts }}{{ .Status }}, {{ .Labels.severity }}: {{ .Labels.alertname }}\n{{ .Annotations.summary }}\nSince {{ .StartsAt.UTC.Format `2006-01-02 15:04` }} UTC. What to do: docs/operating/runbook.md, {{ .Labels.alertname }}\n\n{{ end }}"'
title="'[{{ .Status }}] {{ .CommonLabels.alertname }} ({{ .CommonLabels.severity }})'"
line() { printf '%s\n' "$1"; }
config() {
  line '# deploy/alerting.sh writes this file: change .env or secrets/ and call it again.'
  if [ -n "$to" ]; then
    line 'global:'
    line "  smtp_smarthost: '$host:$port'"
    line "  smtp_from: '$from'"
    [ -z "$hello" ] || line "  smtp_hello: '$hello'"
    # Port 465 speaks TLS from the first byte, every other one has to begin it.
    [ "$port" != 465 ] || line '  smtp_force_implicit_tls: true'
    if [ -n "$user" ]; then
      line "  smtp_auth_username: '$user'"
      line "  smtp_auth_password_file: $mounted/smtp-password"
    fi
  fi
  cat <<'ROUTES'
route:
  receiver: people
  group_by: [alertname]
  # A message of a group follows another one so soon: a further alert, or its end. By default it is 5 minutes.
  group_interval: 1m
  repeat_interval: 12h
  routes:
    - matchers: [alertname="PaymentsWatchdog"]
      receiver: heartbeat
      group_wait: 0s
      repeat_interval: 4m
    - matchers: [alertname="PaymentsTest"]
      receiver: heartbeat
      group_by: ['...']
      group_wait: 0s
      continue: true
    - matchers: [alertname="PaymentsTest"]
      receiver: people
      group_by: ['...']
      group_wait: 0s
    # Until then an alert that only follows from another one is known as such.
    - matchers: [severity="page"]
      receiver: people
      group_by: [alertname, gateway, job, dependency]
      group_wait: 10s
      group_interval: 20s
      repeat_interval: 1h
# Only what follows from another alert, and nothing about money.
inhibit_rules:
  - source_matchers: [alertname=~"PaymentsDependencyDown|PaymentsWorkerDown"]
    target_matchers:
      - alertname=~"PaymentsSweeperStale|PaymentsOutboxStuck|PaymentsInquiriesLate|PaymentsWorkersBehind|PaymentsWebhooksOverdue|PaymentsTemporalFailing"
  - source_matchers: [alertname="PaymentsApiDown"]
    target_matchers: [alertname="PaymentsProcessDown", job="payments-api"]
  - source_matchers: [alertname="PaymentsApiDown"]
    target_matchers: [alertname="PaymentsPublicAddressDown"]
  - source_matchers: [alertname="PaymentsWorkerDown"]
    target_matchers: [alertname="PaymentsProcessDown", job="payments-worker"]
  - source_matchers: [alertname="PaymentsGatewayUnavailable"]
    target_matchers: [alertname="PaymentsLowSuccessRate"]
    equal: [gateway]
receivers:
  - name: heartbeat
ROUTES
  if has alerts-heartbeat-url; then
    # Its silence is the news: it is not told that the watchdog has ended.
    line '    webhook_configs:'
    line "      - url_file: $mounted/alerts-heartbeat-url"
    line '        send_resolved: false'
  fi
  line '  - name: people'
  if [ -n "$to" ]; then
    line '    email_configs:'
    for address in $(echo "$to" | tr ',' ' '); do
      line "      - to: '$address'"
      line '        send_resolved: true'
      line "        headers: { Subject: $title }"
      line "        html: ''"
      line "        text: $text"
    done
  fi
  if has alerts-webhook-url; then
    line '    webhook_configs:'
    line "      - url_file: $mounted/alerts-webhook-url"
    line '        send_resolved: true'
  fi
  if has alerts-slack-url; then
    line '    slack_configs:'
    line "      - api_url_file: $mounted/alerts-slack-url"
    line '        send_resolved: true'
    line "        title: $title"
    line "        text: $text"
  fi
}
[ "$env" = .env ] || { config; exit; }
new=deploy/alertmanager.yml.new
config > "$new"
chmod 0644 "$new"
if ! said=$(amtool check-config /etc/payments/alertmanager.yml.new 2>&1); then
  echo "$said" >&2
  rm "$new"
  exit 1
fi
mv "$new" deploy/alertmanager.yml
# Anew: it sees a secret that has been replaced only then. It keeps what it has sent.
docker compose up --detach --no-deps --force-recreate alertmanager
has alerts-heartbeat-url || echo 'secrets/alerts-heartbeat-url is empty: nobody notices when no alert can be sent any more.'
echo 'deploy/alerting.sh --test sends a test to every receiver.'
