<?php

// Runs the controller of docs/webhook-receiver-laravel.php in the parts of Laravel that it uses, as Debian packages them:
// php -S 127.0.0.1:PORT laravel.php

use Illuminate\Config\Repository;
use Illuminate\Container\Container;
use Illuminate\Database\Connectors\ConnectionFactory;
use Illuminate\Database\DatabaseManager;
use Illuminate\Events\Dispatcher;
use Illuminate\Http\Request;
use Illuminate\Routing\Router;
use Illuminate\Support\Facades\Facade;

// A PHP that is newer than the packages deprecates some of their code.
error_reporting(E_ALL & ~E_DEPRECATED);
// Laravel makes an exception of a warning.
set_error_handler(fn ($level, $message) => error_reporting() & $level ? throw new ErrorException($message) : false);

foreach (['Config', 'Database', 'Events', 'Http', 'Routing'] as $part) {
    require_once "Illuminate/$part/autoload.php";
}
require_once 'Psr/Log/autoload.php';
require_once __DIR__ . '/../../../docs/webhook-receiver-laravel.php';

$log = new class extends Psr\Log\AbstractLogger {
    public function log($level, $message, array $context = []): void
    {
        file_put_contents('php://stdout', "$message\n");
    }
};

$secret = trim((string) @file_get_contents(getenv('WEBHOOK_SECRET_FILE')));
$shop = ['driver' => 'sqlite', 'database' => getenv('DATABASE_FILE'), 'prefix' => ''];
$container = new Container();
$container->instance('config', new Repository([
    'services' => ['payments' => ['webhook_secret' => $secret]],
    'database' => ['default' => 'shop', 'connections' => ['shop' => $shop]],
]));
$container->instance('db', new DatabaseManager($container, new ConnectionFactory($container)));
$container->instance('log', $log);
Facade::setFacadeApplication($container);

try {
    $router = new Router(new Dispatcher($container), $container);
    $router->post('/webhook', App\Http\Controllers\PaymentWebhook::class);
    $request = Request::capture();
    $container->instance(Request::class, $request);
    $router->dispatch($request)->send();
} catch (Throwable $error) {
    // As Laravel's handler of exceptions does.
    error_log((string) $error);
    http_response_code(500);
}
