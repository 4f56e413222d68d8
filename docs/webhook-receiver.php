<?php

// php -S 127.0.0.1:8080 webhook-receiver.php, with these variables of the environment:
// WEBHOOK_SECRET_FILE: the file that holds the secret that you were shown.
// DATABASE: your database for PDO, with the tables of docs/webhooks.md.

declare(strict_types=1);

// The web server reads the body first: let it refuse longer ones, too (nginx: client_max_body_size).
const MAX_BODY_BYTES = 64 * 1024;
const TOLERANCE_SECONDS = 300;

/** True if the payment service sent exactly these bytes, just now. */
function isGenuine(string $header, string $rawBody, string $secret): bool
{
    $timestamp = '';
    $digests = [];
    foreach (explode(',', $header) as $part) {
        // A proxy may put spaces after the commas.
        [$name, $value] = [...explode('=', trim($part), 2), ''];
        if ($name === 't' && $timestamp === '') {
            $timestamp = $value;
        } elseif ($name === 'v1') {
            $digests[] = $value;
        }
    }
    if (preg_match('/^\d{1,12}$/D', $timestamp) !== 1) {
        return false;
    }
    // Both sides count: a timestamp in the future is as suspicious as an old one.
    if (abs(time() - (int) $timestamp) > TOLERANCE_SECONDS) {
        return false;
    }
    $expected = hash_hmac('sha256', "$timestamp.$rawBody", $secret);
    foreach ($digests as $digest) {
        // There are two during a rotation of the secret. One match is enough.
        if (hash_equals($expected, $digest)) {
            return true;
        }
    }
    return false;
}

function handle(PDO $database, array $event): void
{
    $database->beginTransaction();
    // With MySQL: insert ignore into …
    $insert = $database->prepare('insert into payment_events (event_id) values (?) on conflict do nothing');
    $insert->execute([$event['event_id']]);
    if ($insert->rowCount() === 1) {
        note("{$event['event']} {$event['payment_id']} for order {$event['order_id']}");
        changeOrder($database, $event);
    }
    // Otherwise it is the same event again.
    $database->commit();
}

/** The status that the event gives its order, where the order allows it. */
function statusAfter(array $event): ?string
{
    if (preg_match('/^payment\.(paid|failed|cancelled|expired)$/D', $event['event']) === 1) {
        return $event['status'];
    }
    $isLost = $event['event'] === 'dispute.closed' && $event['status'] === 'lost';
    if ($event['event'] !== 'refund.succeeded' && !$isLost) {
        return null; // There may be new kinds.
    }
    $gone = $event['amount_refunded'] + ($event['amount_disputed'] ?? 0);
    return $gone >= $event['payment_amount'] ? 'refunded' : null;
}

function changeOrder(PDO $database, array $event): void
{
    // Before or after the event of the payment that has paid the order. It changes no order.
    if ($event['failure_code'] === 'order_already_paid') {
        note("Tell the payer of {$event['payment_id']}: the order is paid, and this money goes back");
        return;
    }
    $status = statusAfter($event);
    if ($status === null) {
        return;
    }
    // Test events come here, too. docs/webhooks.md says why it changes an order in these states only.
    $update = $database->prepare(
        "update orders set status = :status, payment_id = :payment
         where id = :id and amount = :amount and currency = :currency and test = :test
           and (status in ('pending', 'failed', 'cancelled', 'expired')
             or (:status = 'paid' and status = 'refunded' and payment_id <> :payment)
             or (:status = 'refunded' and payment_id = :payment))"
    );
    $update->execute([
        'status' => $status,
        'payment' => $event['payment_id'],
        'id' => $event['order_id'],
        // In events of refunds and disputes the payment has fields of its own.
        'amount' => $event['payment_amount'] ?? $event['amount'],
        'currency' => $event['payment_currency'] ?? $event['currency'],
        'test' => (int) $event['test'],
    ]);
    if ($update->rowCount() === 1) {
        note("Order {$event['order_id']} is $status");
    }
}

function note(string $line): void
{
    file_put_contents('php://stdout', "$line\n");
}

function receive(): int
{
    $file = (string) getenv('WEBHOOK_SECRET_FILE');
    $secret = trim((string) file_get_contents($file));
    // Anybody could sign with an empty key.
    if (!str_starts_with($secret, 'whsec_')) {
        throw new RuntimeException("$file holds no whsec_… secret");
    }
    // The raw bytes: JSON that was parsed and written again may have other bytes.
    $rawBody = (string) file_get_contents('php://input', length: MAX_BODY_BYTES + 1);
    if (strlen($rawBody) > MAX_BODY_BYTES) {
        return 413;
    }
    if (!isGenuine($_SERVER['HTTP_X_SERVICE_SIGNATURE'] ?? '', $rawBody, $secret)) {
        return 400;
    }
    handle(new PDO((string) getenv('DATABASE')), json_decode($rawBody, true, flags: JSON_THROW_ON_ERROR));
    return 204;
}

// Until the event is accepted, so that the service sends it again: PHP answers 200 by itself, even where it prints an error.
http_response_code(500);
try {
    http_response_code(receive());
} catch (Throwable $error) {
    error_log((string) $error);
}
