<?php

// A whole small shop in Laravel. The files `token` and `webhook-secret` are beside it. PAYMENTS_URL has the default of
// `npm start`.
//
//   php -S 127.0.0.1:8080 shop-laravel.php
//   php shop-laravel.php catch-up        when the shop was down, and every hour
//   php shop-laravel.php refund ORDER

declare(strict_types=1);

namespace App;

use GuzzleHttp\Exception\TransferException;
use Illuminate\Config\Repository;
use Illuminate\Contracts\Console\Kernel as ArtisanContract;
use Illuminate\Contracts\Debug\ExceptionHandler;
use Illuminate\Contracts\Http\Kernel as HttpContract;
use Illuminate\Database\DatabaseServiceProvider;
use Illuminate\Database\Eloquent\Model;
use Illuminate\Database\Schema\Blueprint;
use Illuminate\Foundation\Application;
use Illuminate\Foundation\Bootstrap\BootProviders;
use Illuminate\Foundation\Bootstrap\HandleExceptions;
use Illuminate\Foundation\Console\Kernel as BaseConsoleKernel;
use Illuminate\Foundation\Exceptions\Handler as BaseHandler;
use Illuminate\Foundation\Http\Kernel as BaseHttpKernel;
use Illuminate\Foundation\Http\Middleware\ConvertEmptyStringsToNull;
use Illuminate\Foundation\Http\Middleware\TrimStrings;
use Illuminate\Http\Client\ConnectionException;
use Illuminate\Http\RedirectResponse;
use Illuminate\Http\Request;
use Illuminate\Http\Response;
use Illuminate\Support\Facades\Artisan;
use Illuminate\Support\Facades\DB;
use Illuminate\Support\Facades\Facade;
use Illuminate\Support\Facades\Http;
use Illuminate\Support\Facades\Log;
use Illuminate\Support\Facades\Route;
use Illuminate\Support\Facades\Schema;
use Illuminate\Support\ServiceProvider;
use Monolog\Formatter\LineFormatter;
use Monolog\Handler\StreamHandler;
use RuntimeException;
use Symfony\Component\Console\Input\ArgvInput;
use Symfony\Component\Console\Output\ConsoleOutput;
use Symfony\Component\HttpKernel\Exception\HttpExceptionInterface;
use Throwable;

if (is_file(__DIR__ . '/vendor/autoload.php')) {
    require __DIR__ . '/vendor/autoload.php';
} else {
    // The packages of Debian.
    require 'Illuminate/autoload.php';
    require 'GuzzleHttp/autoload.php';
}

// The shop. In an application each class has its own file, and the provider stands in the list of providers.

class ShopServiceProvider extends ServiceProvider
{
    public function boot(): void
    {
        // In an application these are migrations.
        if (!Schema::hasTable('payment_feed')) {
            $this->createTables();
        }
        if (!$this->app->runningInConsole()) {
            PaymentWebhook::secret();
        }
        // Not in the group `web`: the payment service has no CSRF token.
        Route::post('/webhook', PaymentWebhook::class);
        // In an application these are in it, and the form has `@csrf`.
        Route::get('/', [ShopController::class, 'home']);
        Route::post('/pay', [ShopController::class, 'pay']);
        Route::get('/return', [ShopController::class, 'comeBack']);

        Artisan::command('catch-up', function (PaymentEvents $events) {
            $this->info("Caught up: {$events->catchUp()}");
        });
        Artisan::command('refund {order}', function (Payments $payments, string $order) {
            $made = $payments->refund($order);
            $this->info("Refund {$made['refund_id']} of $order: {$made['status']}");
        });
    }

    private function createTables(): void
    {
        Schema::create('orders', function (Blueprint $table) {
            $table->string('id')->primary();
            $table->string('status');
            $table->unsignedInteger('amount');
            $table->char('currency', 3);
            $table->boolean('test');
            $table->string('locale')->default('en');
            $table->string('payment_id')->default(''); // that changed it last
        });
        Schema::create('payment_events', function (Blueprint $table) {
            $table->uuid('event_id')->primary();
        });
        Schema::create('payment_feed', function (Blueprint $table) {
            $table->unsignedTinyInteger('only_row')->primary();
            $table->text('cursor');
        });
    }
}

class Order extends Model
{
    public const AMOUNT = 1250; // 12.50 euros, in cents
    public const CURRENCY = 'EUR';
    private const UNPAID = ['pending', 'failed', 'cancelled', 'expired'];

    public $incrementing = false;
    public $timestamps = false;
    protected $keyType = 'string';
    protected $guarded = [];
    protected $casts = ['amount' => 'integer', 'test' => 'boolean'];

    /** In these it can be paid. All others are your own business: paid, shipped, done. */
    public function isOpen(): bool
    {
        return in_array($this->status, [...self::UNPAID, 'refunded'], true);
    }

    public function isOf(array $event): bool
    {
        // Test events come here, too. In events of refunds and disputes the payment has fields of its own.
        return $this->test === $event['test']
            && $this->amount === ($event['payment_amount'] ?? $event['amount'])
            && $this->currency === ($event['payment_currency'] ?? $event['currency']);
    }

    public function canBecome(string $status, string $payment): bool
    {
        return in_array($this->status, self::UNPAID, true)
            || ($status === 'paid' && $this->status === 'refunded' && $this->payment_id !== $payment)
            || ($status === 'refunded' && $this->payment_id === $payment);
    }
}

// The API.

/** The service has refused the call, or after three tries it has not answered: status 0. */
class PaymentsError extends RuntimeException
{
    public function __construct(public int $status, public string $errorCode, string $message)
    {
        parent::__construct("$status $errorCode: $message");
    }
}

class Payments
{
    /** Tries three times within 45 s. A create needs a key: then all tries make one payment or one refund. */
    public function call(string $method, string $path, ?array $body = null, ?string $key = null): array
    {
        for ($try = 0; ; $try += 1) {
            // Http::retry does not read Retry-After.
            $wait = 0.5 * 2 ** $try;
            [$status, $error] = [0, []];
            try {
                $response = Http::baseUrl(config('services.payments.url') . '/api/v1')
                    ->withToken(config('services.payments.token'))
                    ->acceptJson()
                    ->withHeaders($key === null ? [] : ['Idempotency-Key' => $key])
                    ->withOptions(['allow_redirects' => false]) // with the token a redirect goes nowhere
                    ->timeout(10)
                    ->send($method, $path, $body === null ? [] : ['json' => $body]);
                $answer = $response->json();
                if ($response->successful() && is_array($answer)) {
                    return $answer;
                }
                $status = $response->status();
                $error = is_array($answer['error'] ?? null) ? $answer['error'] : [];
                $wait += (int) $response->header('Retry-After');
            } catch (ConnectionException | TransferException) {
                // There is no complete answer.
            }
            // Without one the call may have had its effect, which the same key does not repeat. All other answers would be
            // the same again.
            $isTriedAgain = $status < 300 || in_array($status, [429, 500, 502, 503, 504], true);
            if (!$isTriedAgain || $try === 2 || $wait > 7) {
                $message = $error['message'] ?? 'No answer of the payment service.';
                throw new PaymentsError($status, $error['code'] ?? '', $message);
            }
            usleep((int) ($wait * 1_000_000));
        }
    }

    /** Gives all of an order's money back. The event refund.succeeded makes the order refunded. */
    public function refund(string $id): array
    {
        $payment = Order::where('status', 'paid')->find($id)?->payment_id;
        if ($payment === null) {
            throw new RuntimeException("$id is no paid order");
        }
        // The same key again and again: one refund.
        return $this->call('POST', "/payments/$payment/refunds", ['reason' => 'requested_by_customer'], "$payment-whole");
    }
}

// Events: from the webhook or, where none came, from the feed.

class PaymentWebhook
{
    // The web server reads the body first: let it refuse longer ones, too (nginx: client_max_body_size).
    private const MAX_BODY_BYTES = 64 * 1024;
    private const TOLERANCE_SECONDS = 300;

    public static function secret(): string
    {
        $secret = (string) config('services.payments.webhook_secret');
        // Anybody could sign with an empty key.
        if (!str_starts_with($secret, 'whsec_')) {
            throw new RuntimeException('services.payments.webhook_secret holds no whsec_… secret');
        }
        return $secret;
    }

    public function __invoke(Request $request, PaymentEvents $events): Response
    {
        // The raw bytes: JSON that was parsed and written again may have others.
        $rawBody = $request->getContent();
        if (strlen($rawBody) > self::MAX_BODY_BYTES) {
            return new Response('', 413);
        }
        $problem = $this->problemOf((string) $request->header('X-Service-Signature'), $rawBody);
        if ($problem !== null) {
            Log::warning($problem);
            return new Response($problem, 400, ['Content-Type' => 'text/plain']);
        }
        $events->take(json_decode($rawBody, true, flags: JSON_THROW_ON_ERROR));
        return new Response('', 204);
    }

    /** Null if the payment service sent exactly these bytes, just now. Otherwise what is wrong with them. */
    private function problemOf(string $header, string $rawBody): ?string
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
        if (abs(time() - (int) $timestamp) > self::TOLERANCE_SECONDS) {
            return 'The time of the signature is too far away.';
        }
        $expected = hash_hmac('sha256', "$timestamp.$rawBody", self::secret());
        foreach ($digests as $digest) {
            // There are two during a rotation of the secret. One match is enough.
            if (hash_equals($expected, $digest)) {
                return null;
            }
        }
        return 'No signature matches. Is it the secret of this application? Is the body the bytes that arrived? '
            . 'JSON that was parsed and written again has other bytes.';
    }
}

class PaymentEvents
{
    public function __construct(private Payments $payments)
    {
    }

    /** Lets an event change the shop once. False: it came before. */
    public function take(array $event): bool
    {
        // One transaction: a process that is killed has stored both, or neither.
        return DB::transaction(function () use ($event): bool {
            $isFirst = DB::table('payment_events')->insertOrIgnore(['event_id' => $event['event_id']]) === 1;
            if ($isFirst) {
                $this->change($event);
            }
            return $isFirst;
        });
    }

    /** Takes every event of the feed that no webhook has brought, oldest first, and goes on where it ended. */
    public function catchUp(): int
    {
        $taken = 0;
        $cursor = DB::table('payment_feed')->value('cursor');
        do {
            $query = ['order' => 'asc', 'include' => 'payload', 'per_page' => 100, 'cursor' => $cursor];
            $page = $this->payments->call('GET', '/events?' . http_build_query($query));
            foreach ($page['data'] as $entry) {
                // The body of the webhook as an object: it is verified, because the answer came from the service.
                $taken += (int) $this->take($entry['payload']);
            }
            $cursor = $page['pagination']['next_cursor'] ?? $cursor;
            if ($cursor !== null) {
                DB::table('payment_feed')->updateOrInsert(['only_row' => 1], ['cursor' => $cursor]);
            }
            $hasMore = $page['pagination']['has_more'];
            // Half of the budget of 120 requests a minute stays for the payers.
            sleep($hasMore ? 1 : 0);
        } while ($hasMore);
        return $taken;
    }

    private function change(array $event): void
    {
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
        // Two events of one order wait for each other.
        $order = Order::lockForUpdate()->find($event['order_id']);
        if ($order?->isOf($event) && $order->canBecome($status, $event['payment_id'])) {
            $order->update(['status' => $status, 'payment_id' => $event['payment_id']]);
            Log::info("Order $order->id is $status");
        }
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

// Pages. In an application they are views, and the words are in lang/.

class ShopController
{
    private const WORDS = [
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

    public function __construct(private Payments $payments)
    {
    }

    public function home(Request $request): Response
    {
        $locale = $this->localeOf($request->query('locale'));
        $items = '';
        foreach (Order::all() as $order) {
            $form = $order->isOpen() ? $this->payForm($locale, 'again', $order->id) : '';
            $items .= '<li>' . e("$order->id: $order->status ") . "$form</li>";
        }
        $title = self::WORDS[$locale]['orders'];
        return $this->page(200, $locale, $this->payForm($locale, 'buy') . "<h1>$title</h1><ul>$items</ul>");
    }

    /** A shop with logins also asks whether the order is the payer's own. */
    public function pay(Request $request): Response|RedirectResponse
    {
        [$id, $try] = [$request->post('order'), $request->post('try')];
        $locale = $this->localeOf($request->post('locale'));
        if (!is_string($id) || preg_match('/^order-[0-9a-f]{16}$/D', $id) !== 1) {
            return $this->say(400, $locale, 'unknown');
        }
        if (!is_string($try) || preg_match('/^[0-9a-f]{16}$/D', $try) !== 1) {
            return $this->say(400, $locale, 'unknown');
        }
        Order::query()->insertOrIgnore([
            'id' => $id,
            'status' => 'pending',
            'amount' => Order::AMOUNT,
            'currency' => Order::CURRENCY,
            'test' => str_starts_with(config('services.payments.token'), 'svc_test_'),
            'locale' => $locale,
        ]);
        $order = Order::findOrFail($id);
        if (!$order->isOpen()) {
            return $this->say(200, $locale, 'paid');
        }
        try {
            $payer = ['locale' => $locale];
            $body = ['order_id' => $id, 'amount' => $order->amount, 'currency' => $order->currency, 'payer' => $payer];
            $payment = $this->payments->call('POST', '/payments', $body, "$id-$try");
        } catch (PaymentsError $error) {
            if ($error->errorCode === 'ORDER_ALREADY_PAID') {
                return $this->say(200, $locale, 'paid');
            }
            report($error);
            // The same key again: what the service has made meanwhile is not made twice.
            return $this->say(503, $locale, 'unavailable', $this->payForm($locale, 'again', $id, $try));
        }
        return new RedirectResponse($payment['checkout_url'], 303);
    }

    /** The payer is back, which proves nothing: the service says how the payment stands. */
    public function comeBack(Request $request): Response
    {
        $id = $request->query('payment_id');
        if (!is_string($id) || preg_match('/^PAY_[0-9A-Z]{26}$/D', $id) !== 1) {
            return $this->say(404, 'en', 'unknown');
        }
        try {
            $payment = $this->payments->call('GET', "/payments/$id");
        } catch (PaymentsError $error) {
            if ($error->status >= 400 && $error->status < 500) {
                return $this->say(404, 'en', 'unknown');
            }
            report($error);
            return $this->say(200, 'en', 'processing');
        }
        $order = Order::find($payment['order_id']);
        if ($order === null) {
            return $this->say(404, 'en', 'unknown');
        }
        [$locale, $status] = [$order->locale, $payment['status']];
        if ($payment['failure_code'] === 'order_already_paid') {
            return $this->say(200, $locale, 'order_already_paid');
        }
        if ($status === 'pending' && $payment['checkout_url'] !== null) {
            $link = '<a href="' . e($payment['checkout_url']) . '">' . self::WORDS[$locale]['again'] . '</a>';
            return $this->say(200, $locale, 'pending', $link);
        }
        if ($status === 'paid') {
            return $this->say(200, $locale, 'paid');
        }
        if (!in_array($status, ['failed', 'cancelled', 'expired'], true)) {
            return $this->say(200, $locale, 'processing'); // A status of a later version is no outcome either.
        }
        return $this->say(200, $locale, $status, $order->isOpen() ? $this->payForm($locale, 'again', $order->id) : '');
    }

    private function localeOf(mixed $text): string
    {
        return $text === 'fa' ? 'fa' : 'en';
    }

    /** The form has the idempotency key: a double click, and a reload after a crash, make one payment. */
    private function payForm(string $locale, string $word, ?string $order = null, ?string $try = null): string
    {
        $order = e($order ?? 'order-' . bin2hex(random_bytes(8)));
        $try ??= bin2hex(random_bytes(8));
        $label = self::WORDS[$locale][$word];
        return <<<HTML
            <form method="post" action="/pay"><input type="hidden" name="order" value="$order">
            <input type="hidden" name="try" value="$try"><input type="hidden" name="locale" value="$locale">
            <button>$label</button></form>
            HTML;
    }

    private function say(int $status, string $locale, string $word, string $more = ''): Response
    {
        return $this->page($status, $locale, '<p>' . self::WORDS[$locale][$word] . "</p>$more", $word === 'processing');
    }

    private function page(int $status, string $locale, string $body, bool $reloads = false): Response
    {
        $direction = $locale === 'fa' ? 'rtl' : 'ltr';
        $refresh = $reloads ? '<meta http-equiv="refresh" content="5">' : '';
        return new Response(<<<HTML
            <!doctype html><html lang="$locale" dir="$direction">
            <meta charset="utf-8"><meta name="viewport" content="width=device-width">
            $refresh<title>Shop</title>$body</html>
            HTML, $status);
    }
}

// The application. What follows is in every application of Laravel already: bootstrap/, config/, public/index.php and
// artisan.

class HttpKernel extends BaseHttpKernel
{
    protected $bootstrappers = [HandleExceptions::class, BootProviders::class];
    protected $middleware = [TrimStrings::class, ConvertEmptyStringsToNull::class];
}

class ConsoleKernel extends BaseConsoleKernel
{
    protected $bootstrappers = [HandleExceptions::class, BootProviders::class];
}

class Handler extends BaseHandler
{
    protected function renderHttpException(HttpExceptionInterface $error)
    {
        return $this->convertExceptionToResponse($error); // without views
    }
}

function read(string $file): string
{
    return trim((string) @file_get_contents(__DIR__ . "/$file"));
}

$app = new Application(__DIR__);
$app->instance('env', 'production');
$app->instance('config', new Repository([
    'app' => ['debug' => false],
    'services' => ['payments' => [
        'url' => getenv('PAYMENTS_URL') ?: 'http://127.0.0.1:3000',
        'token' => read('token'),
        'webhook_secret' => read('webhook-secret'),
    ]],
    'database' => ['default' => 'shop', 'connections' => [
        'shop' => ['driver' => 'sqlite', 'database' => __DIR__ . '/shop.sqlite', 'prefix' => ''],
    ]],
    'logging' => ['default' => 'terminal', 'channels' => ['terminal' => [
        'driver' => 'monolog',
        'handler' => StreamHandler::class,
        'with' => ['stream' => 'php://stderr'],
        'formatter' => LineFormatter::class,
        'formatter_with' => ['format' => "%message%%context%\n", 'ignoreEmptyContextAndExtra' => true],
    ]]],
]));
Facade::setFacadeApplication($app);
$app->singleton(HttpContract::class, HttpKernel::class);
$app->singleton(ArtisanContract::class, ConsoleKernel::class);
$app->singleton(ExceptionHandler::class, Handler::class);
$app->register(DatabaseServiceProvider::class);
$app->register(ShopServiceProvider::class);
touch(__DIR__ . '/shop.sqlite');

if ($app->runningInConsole()) {
    exit($app->make(ArtisanContract::class)->handle(new ArgvInput(), new ConsoleOutput()));
}
$app->make(HttpContract::class)->handle(Request::capture())->send();
