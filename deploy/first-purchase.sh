#!/bin/sh
# One purchase in the sandbox, from the order to the webhook, before any provider is configured. It is apart
# from the installation and takes its secrets.
#   deploy/first-purchase.sh
#   deploy/first-purchase.sh --remove
set -eu
cd "$(dirname "$0")/.."
# Nothing overrides these options: COMPOSE_FILE and COMPOSE_PROJECT_NAME, exported or in .env, may name the installation.
compose='docker compose --project-name payments-trial --file docker-compose.yml --file deploy/trial.yml'
# The receiver is in the container of the only worker that sends webhooks.
export PUBLIC_BASE_URL=http://localhost:8000 WEBHOOK_WORKERS=1
case "$*" in
  '') ;;
  --remove)
    # A network may count as in use for a moment after its last container has gone.
    $compose down --volumes && exit
    sleep 5
    $compose down --volumes
    exit
    ;;
  *)
    echo 'Usage: deploy/first-purchase.sh [--remove]' >&2
    exit 2
    ;;
esac

admin() { $compose run --rm -T admin "$@" --as trial; }
payments=http://localhost:8000/api/v1/payments

$compose up -d --wait
admin gateways add sandbox --driver sandbox
secret=$(admin applications create shop --gateway sandbox \
  --callback-url http://localhost:9000/thanks --webhook-url http://localhost:9000/webhook | tail -n 1)
token=$(admin tokens issue shop --mode test --name trial | grep -o 'svc_test_[A-Za-z0-9]*' | tail -n 1)

# The receiver of docs/first-payment.md prints each event that it accepts.
events=$(mktemp)
printf '%s' "$secret" | $compose exec -T worker-webhooks sh -c \
  'cat > /tmp/webhook-secret && exec node /trial/webhook-receiver.ts /tmp/webhook-secret 9000' > "$events" &
receiver=$!
trap 'kill $receiver 2> /dev/null; rm -f "$events"' EXIT
# The first attempt of a webhook would fail without it, and the second follows a minute later.
for _ in $(seq 60); do
  grep -q Listening "$events" && break
  sleep 0.5
done

echo 'The shop creates a payment:'
payment=$(curl -sS --fail-with-body "$payments" -H "Authorization: Bearer $token" \
  -H 'Content-Type: application/json' -H "Idempotency-Key: order-1001" \
  -d '{"order_id": "order-1001", "amount": 1999, "currency": "EUR"}')
echo "$payment"
id=$(echo "$payment" | grep -o 'PAY_[0-9A-Z]*' | head -n 1)

echo 'The payer opens the checkout, pays in the sandbox, and comes back to the shop:'
redirect() { curl -sS -o /dev/null -w '%{redirect_url}\n' "$@"; }
redirect "$payments/$id/checkout"
back=$(redirect -d action=pay "http://localhost:8000/api/v1/sandbox/$id")
redirect "$back"

echo 'The shop receives the webhook:'
for _ in $(seq 60); do
  grep "$id" "$events" && exit 0
  sleep 0.5
done
echo "It did not come: docker compose --project-name payments-trial logs worker-webhooks" >&2
exit 1
