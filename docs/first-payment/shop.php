<?php

// A whole small shop, with no packages. The files `token` and `webhook-secret` are beside it. PAYMENTS_URL has the default
// of `npm start`.
//
//   php -S 127.0.0.1:8080 shop.php
//   php shop.php catch-up        when the shop was down, and every hour
//   php shop.php refund ORDER

declare(strict_types=1);

// The web server reads the body first: let it refuse longer ones, too (nginx: client_max_body_size).
const MAX_BODY_BYTES = 64 * 1024;
const TOLERANCE_SECONDS = 300;
const AMOUNT = 1250; // 12.50 euros, in cents
const CURRENCY = 'EUR';
// In these an order can be paid. All others are your own business: paid, shipped, done.
const OPEN = ['pending', 'failed', 'cancelled', 'expired', 'refunded'];

function read(string $file): string
{
    return trim((string) file_get_contents(__DIR__ . "/$file"));
}

function secret(): string
{
    $secret = read('webhook-secret');
    // Anybody could sign with an empty key.
    if (!str_starts_with($secret, 'whsec_')) {
        throw new RuntimeException('webhook-secret holds no whsec_… secret');
    }
    return $secret;
}

// The database.

const TABLES = "
create table if not exists orders (
  id text primary key,
  status text not null,
  amount integer not null,
  currency text not null,
  test boolean not null,
  locale text not null default 'en',
  payment_id text not null default '' -- that changed it last
);
create table if not exists payment_events (event_id text primary key);
create table if not exists payment_feed (only_row integer primary key check (only_row = 1), cursor text not null);
";

/** In a shop the tables are a migration, and the database is the one that you have. */
function database(): PDO
{
    static $database;
    if (!$database) {
        $database = new PDO('sqlite:' . __DIR__ . '/shop.sqlite', options: [PDO::ATTR_TIMEOUT => 30]);
        $database->exec(TABLES);
    }
    return $database;
}

function query(string $sql, array $values = []): PDOStatement
{
    $statement = database()->prepare($sql);
    $statement->execute($values);
    return $statement;
}

function findOrder(string $id): ?array
{
    return query('select * from orders where id = ?', [$id])->fetch(PDO::FETCH_ASSOC) ?: null;
}

// The API.

/** The service has refused the call, or after three tries it has not answered: status 0. */
class ApiError extends RuntimeException
{
    public function __construct(public int $status, public string $errorCode, string $message)
    {
        parent::__construct("$status $errorCode: $message");
    }
}

/** Tries three times within 45 s. A create needs a key: then all tries make one payment or one refund. */
function call(string $method, string $path, ?array $body = null, ?string $key = null): array
{
    $url = (getenv('PAYMENTS_URL') ?: 'http://127.0.0.1:3000') . "/api/v1$path";
    $headers = ['Authorization: Bearer ' . read('token'), 'Accept: application/json', 'Connection: close'];
    if ($key !== null) {
        $headers[] = "Idempotency-Key: $key";
    }
    if ($body !== null) {
        $headers[] = 'Content-Type: application/json';
    }
    $context = stream_context_create(['http' => [
        'method' => $method,
        'header' => $headers,
        'content' => $body === null ? '' : json_encode($body, JSON_THROW_ON_ERROR),
        'protocol_version' => 1.1,
        'timeout' => 10,
        'ignore_errors' => true, // the body of an error says why
        'follow_location' => 0, // with the token a redirect goes nowhere
    ]]);
    for ($try = 0; ; $try += 1) {
        $wait = 0.5 * 2 ** $try;
        $http_response_header = [];
        $text = @file_get_contents($url, false, $context);
        $status = (int) (explode(' ', $http_response_header[0] ?? '')[1] ?? 0);
        $answer = json_decode((string) $text, true);
        if ($status >= 200 && $status < 300 && is_array($answer)) {
            return $answer;
        }
        $error = is_array($answer['error'] ?? null) ? $answer['error'] : [];
        foreach ($http_response_header as $header) {
            if (preg_match('/^Retry-After: (\d+)$/i', $header, $after) === 1) {
                $wait += (int) $after[1];
            }
        }
        // Without a complete answer the call may have had its effect, which the same key does not repeat. All other
        // answers would be the same again.
        $isTriedAgain = $status < 300 || in_array($status, [429, 500, 502, 503, 504], true);
        if (!$isTriedAgain || $try === 2 || $wait > 7) {
            throw new ApiError($status, $error['code'] ?? '', $error['message'] ?? 'No answer of the payment service.');
        }
        usleep((int) ($wait * 1_000_000));
    }
}

// Events: from the webhook or, where none came, from the feed.

/** Null if the payment service sent exactly these bytes, just now. Otherwise what is wrong with them. */
function problemOf(string $header, string $rawBody, string $secret): ?string
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
        return 'The request has no signature.';
    }
    // Both sides count: a timestamp in the future is as suspicious as an old one.
    if (abs(time() - (int) $timestamp) > TOLERANCE_SECONDS) {
        return 'The time of the signature is too far away.';
    }
    $expected = hash_hmac('sha256', "$timestamp.$rawBody", $secret);
    foreach ($digests as $digest) {
        // There are two during a rotation of the secret. One match is enough.
        if (hash_equals($expected, $digest)) {
            return null;
        }
    }
    return 'No signature matches. Is it the secret of this application? Is the body the bytes that arrived? '
        . 'JSON that was parsed and written again has other bytes.';
}

/** Lets an event change the shop once. False: it came before. */
function take(array $event): bool
{
    // One transaction: a process that is killed has stored both, or neither.
    database()->beginTransaction();
    try {
        // With MySQL: insert ignore into …
        $insert = query('insert into payment_events (event_id) values (?) on conflict do nothing', [$event['event_id']]);
        $isFirst = $insert->rowCount() === 1;
        if ($isFirst) {
            change($event);
        }
        database()->commit();
        return $isFirst;
    } catch (Throwable $error) {
        database()->rollBack();
        throw $error;
    }
}

function change(array $event): void
{
    note("{$event['event']} {$event['payment_id']} for order {$event['order_id']}");
    // Before or after the event of the payment that has paid the order. It changes no order.
    if ($event['failure_code'] === 'order_already_paid') {
        note("Tell the payer of {$event['payment_id']}: the order is paid, and this money goes back");
        return;
    }
    $status = statusAfter($event);
    if ($status === null) {
        return;
    }
    // Test events come here, too.
    $update = query(
        "update orders set status = :status, payment_id = :payment
         where id = :id and amount = :amount and currency = :currency and test = :test
           and (status in ('pending', 'failed', 'cancelled', 'expired')
             or (:status = 'paid' and status = 'refunded' and payment_id <> :payment)
             or (:status = 'refunded' and payment_id = :payment))",
        [
            'status' => $status,
            'payment' => $event['payment_id'],
            'id' => $event['order_id'],
            // In events of refunds and disputes the payment has fields of its own.
            'amount' => $event['payment_amount'] ?? $event['amount'],
            'currency' => $event['payment_currency'] ?? $event['currency'],
            'test' => (int) $event['test'],
        ],
    );
    if ($update->rowCount() === 1) {
        note("Order {$event['order_id']} is $status");
    }
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

/** Takes every event of the feed that no webhook has brought, oldest first, and goes on where it ended. */
function catchUp(): void
{
    $taken = 0;
    $cursor = query('select cursor from payment_feed')->fetchColumn() ?: null;
    do {
        $query = ['order' => 'asc', 'include' => 'payload', 'per_page' => 100, 'cursor' => $cursor];
        $page = call('GET', '/events?' . http_build_query($query));
        foreach ($page['data'] as $entry) {
            // The body of the webhook as an object: it is verified, because the answer came from the service.
            $taken += (int) take($entry['payload']);
        }
        $cursor = $page['pagination']['next_cursor'] ?? $cursor;
        if ($cursor !== null) {
            query(
                'insert into payment_feed values (1, ?) on conflict (only_row) do update set cursor = excluded.cursor',
                [$cursor],
            );
        }
        $hasMore = $page['pagination']['has_more'];
        // Half of the budget of 120 requests a minute stays for the payers.
        sleep($hasMore ? 1 : 0);
    } while ($hasMore);
    note("Caught up: $taken");
}

/** Gives all of an order's money back. The event refund.succeeded makes the order refunded. */
function refund(string $id): void
{
    $order = findOrder($id);
    if ($order === null || $order['status'] !== 'paid') {
        throw new RuntimeException("$id is no paid order");
    }
    $payment = $order['payment_id'];
    // The same key again and again: one refund.
    $made = call('POST', "/payments/$payment/refunds", ['reason' => 'requested_by_customer'], "$payment-whole");
    note("Refund {$made['refund_id']} of $id: {$made['status']}");
}

function note(string $line): void
{
    file_put_contents('php://stdout', "$line\n");
}

// Pages.

const WORDS = [
    'en' => [
        'buy' => 'Buy for 12.50 EUR',
        'again' => 'Pay',
        'orders' => 'Your orders',
        'paid' => 'Your order is paid. Thank you.',
        'pending' => 'The payment is not finished. You can continue it.',
        'processing' => 'The outcome of your payment is not certain yet. Please do not pay again: this page shows it by itself.',
        'failed' => 'The payment did not go through. Money that has left your account comes back by itself. You can try again.',
        'cancelled' => 'The payment was cancelled. You can pay again.',
        'expired' => 'The time for this payment is over. You can pay again.',
        'order_already_paid' => 'Your order is paid already. The money of your second payment goes back to you by itself.',
        'unavailable' => 'Paying is not possible at the moment. Please try again in a few minutes.',
        'unknown' => 'We do not know this payment.',
    ],
    'fa' => [
        'buy' => 'خرید به مبلغ ۱۲٫۵۰ یورو',
        'again' => 'پرداخت',
        'orders' => 'سفارش‌های شما',
        'paid' => 'سفارش شما پرداخت شد. سپاسگزاریم.',
        'pending' => 'پرداخت کامل نشده است. می‌توانید آن را ادامه دهید.',
        'processing' => 'نتیجهٔ پرداخت شما هنوز مشخص نیست. لطفاً دوباره پرداخت نکنید: این صفحه نتیجه را خودبه‌خود نشان می‌دهد.',
        'failed' => 'پرداخت انجام نشد. پولی که از حساب شما کم شده باشد خودبه‌خود برمی‌گردد. می‌توانید دوباره تلاش کنید.',
        'cancelled' => 'پرداخت لغو شد. می‌توانید دوباره پرداخت کنید.',
        'expired' => 'مهلت این پرداخت گذشته است. می‌توانید دوباره پرداخت کنید.',
        'order_already_paid' => 'سفارش شما پیش‌تر پرداخت شده است. پول پرداخت دوم خودبه‌خود به شما برمی‌گردد.',
        'unavailable' => 'اکنون نمی‌توان پرداخت کرد. لطفاً چند دقیقهٔ دیگر دوباره تلاش کنید.',
        'unknown' => 'این پرداخت را نمی‌شناسیم.',
    ],
];

/** The form has the idempotency key: a double click, and a reload after a crash, make one payment. */
function payForm(string $locale, string $label, ?string $order = null, ?string $try = null): string
{
    $order = htmlspecialchars($order ?? 'order-' . bin2hex(random_bytes(8)));
    $try ??= bin2hex(random_bytes(8));
    return <<<HTML
        <form method="post" action="/pay"><input type="hidden" name="order" value="$order">
        <input type="hidden" name="try" value="$try"><input type="hidden" name="locale" value="$locale">
        <button>$label</button></form>
        HTML;
}

function page(int $status, string $locale, string $body, bool $reloads = false): int
{
    header('Content-Type: text/html; charset=utf-8');
    $direction = $locale === 'fa' ? 'rtl' : 'ltr';
    $refresh = $reloads ? '<meta http-equiv="refresh" content="5">' : '';
    echo <<<HTML
        <!doctype html><html lang="$locale" dir="$direction">
        <meta charset="utf-8"><meta name="viewport" content="width=device-width">
        $refresh<title>Shop</title>$body</html>
        HTML;
    return $status;
}

function say(int $status, string $locale, string $word, string $more = ''): int
{
    return page($status, $locale, '<p>' . WORDS[$locale][$word] . "</p>$more", reloads: $word === 'processing');
}

function localeOf(mixed $text): string
{
    return $text === 'fa' ? 'fa' : 'en';
}

function home(): int
{
    $locale = localeOf($_GET['locale'] ?? '');
    $items = '';
    foreach (query('select * from orders')->fetchAll(PDO::FETCH_ASSOC) as $order) {
        $form = in_array($order['status'], OPEN, true) ? payForm($locale, WORDS[$locale]['again'], $order['id']) : '';
        $items .= '<li>' . htmlspecialchars("{$order['id']}: {$order['status']} ") . "$form</li>";
    }
    $title = WORDS[$locale]['orders'];
    return page(200, $locale, payForm($locale, WORDS[$locale]['buy']) . "<h1>$title</h1><ul>$items</ul>");
}

/** A shop with logins also asks whether the order is the payer's own. */
function pay(): int
{
    [$id, $try] = [$_POST['order'] ?? '', $_POST['try'] ?? ''];
    $locale = localeOf($_POST['locale'] ?? '');
    if (!is_string($id) || preg_match('/^order-[0-9a-f]{16}$/D', $id) !== 1) {
        return say(400, $locale, 'unknown');
    }
    if (!is_string($try) || preg_match('/^[0-9a-f]{16}$/D', $try) !== 1) {
        return say(400, $locale, 'unknown');
    }
    query(
        "insert into orders (id, status, amount, currency, test, locale) values (?, 'pending', ?, ?, ?, ?)
         on conflict do nothing",
        [$id, AMOUNT, CURRENCY, (int) str_starts_with(read('token'), 'svc_test_'), $locale],
    );
    if (!in_array(findOrder($id)['status'], OPEN, true)) {
        return say(200, $locale, 'paid');
    }
    try {
        $body = ['order_id' => $id, 'amount' => AMOUNT, 'currency' => CURRENCY, 'payer' => ['locale' => $locale]];
        $payment = call('POST', '/payments', $body, "$id-$try");
    } catch (ApiError $error) {
        if ($error->errorCode === 'ORDER_ALREADY_PAID') {
            return say(200, $locale, 'paid');
        }
        error_log((string) $error);
        // The same key again: what the service has made meanwhile is not made twice.
        return say(503, $locale, 'unavailable', payForm($locale, WORDS[$locale]['again'], $id, $try));
    }
    header("Location: {$payment['checkout_url']}");
    return 303;
}

/** The payer is back, which proves nothing: the service says how the payment stands. */
function comeBack(): int
{
    $id = $_GET['payment_id'] ?? '';
    if (!is_string($id) || preg_match('/^PAY_[0-9A-Z]{26}$/D', $id) !== 1) {
        return say(404, 'en', 'unknown');
    }
    try {
        $payment = call('GET', "/payments/$id");
    } catch (ApiError $error) {
        if ($error->status >= 400 && $error->status < 500) {
            return say(404, 'en', 'unknown');
        }
        error_log((string) $error);
        return say(200, 'en', 'processing');
    }
    $order = findOrder($payment['order_id']);
    if ($order === null) {
        return say(404, 'en', 'unknown');
    }
    [$locale, $status] = [$order['locale'], $payment['status']];
    $again = WORDS[$locale]['again'];
    if ($payment['failure_code'] === 'order_already_paid') {
        return say(200, $locale, 'order_already_paid');
    }
    if ($status === 'pending' && $payment['checkout_url'] !== null) {
        return say(200, $locale, 'pending', '<a href="' . htmlspecialchars($payment['checkout_url']) . "\">$again</a>");
    }
    if ($status === 'paid') {
        return say(200, $locale, 'paid');
    }
    if (!in_array($status, ['failed', 'cancelled', 'expired'], true)) {
        return say(200, $locale, 'processing'); // A status of a later version is no outcome either.
    }
    return say(200, $locale, $status, in_array($order['status'], OPEN, true) ? payForm($locale, $again, $order['id']) : '');
}

function receive(): int
{
    // The raw bytes: JSON that was parsed and written again may have others.
    $rawBody = (string) file_get_contents('php://input', length: MAX_BODY_BYTES + 1);
    if (strlen($rawBody) > MAX_BODY_BYTES) {
        return 413;
    }
    $problem = problemOf($_SERVER['HTTP_X_SERVICE_SIGNATURE'] ?? '', $rawBody, secret());
    if ($problem !== null) {
        error_log($problem);
        header('Content-Type: text/plain');
        echo $problem;
        return 400;
    }
    take(json_decode($rawBody, true, flags: JSON_THROW_ON_ERROR));
    return 204;
}

if (PHP_SAPI === 'cli') {
    match ($argv[1] ?? '') {
        'catch-up' => catchUp(),
        'refund' => refund($argv[2] ?? ''),
        default => throw new RuntimeException('php shop.php catch-up, or php shop.php refund ORDER'),
    };
    exit;
}

// Until the work is done: PHP answers 200 by itself, even where it prints an error.
http_response_code(500);
ob_start();
try {
    database();
    secret();
    $route = $_SERVER['REQUEST_METHOD'] . ' ' . parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH);
    http_response_code(match ($route) {
        'GET /' => home(),
        'POST /pay' => pay(),
        'GET /return' => comeBack(),
        'POST /webhook' => receive(),
        default => say(404, 'en', 'unknown'),
    });
} catch (Throwable $error) {
    ob_clean();
    error_log((string) $error);
}
