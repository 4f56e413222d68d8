<?php

// app/Http/Controllers/PaymentWebhook.php. Its route belongs into routes/api.php, where Laravel asks for no CSRF token:
//   Route::post('/webhook', PaymentWebhook::class);
// In config/services.php:
//   'payments' => ['webhook_secret' => env('PAYMENTS_WEBHOOK_SECRET')],

namespace App\Http\Controllers;

use Illuminate\Http\Request;
use Illuminate\Http\Response;
use Illuminate\Support\Facades\Config;
use Illuminate\Support\Facades\DB;
use Illuminate\Support\Facades\Log;
use RuntimeException;

class PaymentWebhook
{
    // The web server reads the body first: let it refuse longer ones, too (nginx: client_max_body_size).
    private const MAX_BODY_BYTES = 64 * 1024;
    private const TOLERANCE_SECONDS = 300;

    public function __invoke(Request $request): Response
    {
        $secret = (string) Config::get('services.payments.webhook_secret');
        // Anybody could sign with an empty key.
        if (!str_starts_with($secret, 'whsec_')) {
            throw new RuntimeException('services.payments.webhook_secret holds no whsec_… secret');
        }
        // The raw bytes: JSON that was parsed and written again may have other bytes.
        $rawBody = $request->getContent();
        if (strlen($rawBody) > self::MAX_BODY_BYTES) {
            return new Response('', 413);
        }
        $signature = (string) $request->header('X-Service-Signature');
        if (!$this->isGenuine($signature, $rawBody, $secret)) {
            if ($signature !== '') {
                Log::warning('Refused: no fresh signature of these bytes. JSON that was parsed and written again has other bytes.');
            }
            return new Response('', 400);
        }
        $this->handle(json_decode($rawBody, true, 512, JSON_THROW_ON_ERROR));
        return new Response('', 204);
    }

    /** True if the payment service sent exactly these bytes, just now. */
    private function isGenuine(string $header, string $rawBody, string $secret): bool
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
        if (abs(time() - (int) $timestamp) > self::TOLERANCE_SECONDS) {
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

    private function handle(array $event): void
    {
        DB::transaction(function () use ($event) {
            if (DB::table('payment_events')->insertOrIgnore(['event_id' => $event['event_id']]) === 0) {
                return; // The same event again.
            }
            Log::info("{$event['event']} {$event['payment_id']} for order {$event['order_id']}");
            // Before or after the event of the payment that has paid the order. It changes no order.
            if ($event['failure_code'] === 'order_already_paid') {
                Log::info("Tell the payer of {$event['payment_id']}: the order is paid, and this money goes back");
                return;
            }
            $status = $this->statusAfter($event);
            if ($status === null) {
                return;
            }
            // Test events come here, too. In events of refunds and disputes the payment has fields of its own.
            $changed = DB::table('orders')
                ->where('id', $event['order_id'])
                ->where('amount', $event['payment_amount'] ?? $event['amount'])
                ->where('currency', $event['payment_currency'] ?? $event['currency'])
                ->where('test', $event['test'])
                // docs/webhooks.md says why it changes an order in these states only.
                ->where(function ($query) use ($event, $status) {
                    $query->whereIn('status', ['pending', 'failed', 'cancelled', 'expired']);
                    if ($status === 'paid') {
                        $query->orWhere([['status', '=', 'refunded'], ['payment_id', '<>', $event['payment_id']]]);
                    }
                    if ($status === 'refunded') {
                        $query->orWhere('payment_id', $event['payment_id']);
                    }
                })
                ->update(['status' => $status, 'payment_id' => $event['payment_id']]);
            if ($changed === 1) {
                Log::info("Order {$event['order_id']} is $status");
            }
        });
    }

    /** The status that the event gives its order, where the order allows it. */
    private function statusAfter(array $event): ?string
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
}
