import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readStackConfig } from '../config.ts';
import { readConnection } from '../demo/connection.ts';
import { releasedPath } from './release-openapi.ts';

/*
 * node tools/generate-clients.ts [CONNECTION_FILE]: generates a client for Python and one for Go from the
 * released document, compiles them, and makes a payment with each at the running stack. It needs Python ≥ 3.11
 * and Go, and fetches the generators from their registries.
 */

const versions = { python: '0.29.1', go: 'v2.8.2' };

const pythonProgram = `import os
from payments_client import AuthenticatedClient
from payments_client.api.payments import create_payment, get_payment
from payments_client.models import CreatePayment, CreatePaymentCurrency, Payment

client = AuthenticatedClient(base_url=os.environ["BASE_URL"], token=os.environ["TOKEN"])
order = CreatePayment(order_id="python-1", amount=1250, currency=CreatePaymentCurrency.EUR)
created = create_payment.sync(client=client, body=order, idempotency_key=os.environ["KEY"])
assert isinstance(created, Payment), created
read = get_payment.sync(created.payment_id, client=client)
assert isinstance(read, Payment), read
print(read.payment_id, read.status)
`;

const goProgram = `package main

import (
	"context"
	"fmt"
	"net/http"
	"os"

	"example.com/shop/payments"
)

func main() {
	authorize := func(_ context.Context, request *http.Request) error {
		request.Header.Set("Authorization", "Bearer "+os.Getenv("TOKEN"))
		return nil
	}
	client, err := payments.NewClientWithResponses(os.Getenv("BASE_URL"), payments.WithRequestEditorFn(authorize))
	if err != nil {
		panic(err)
	}
	key := os.Getenv("KEY")
	order := payments.CreatePayment{OrderId: "go-1", Amount: 1250, Currency: "EUR"}
	created, err := client.CreatePaymentWithResponse(
		context.Background(), &payments.CreatePaymentParams{IdempotencyKey: &key}, order)
	if err != nil || created.JSON201 == nil {
		panic(fmt.Sprint(err, created))
	}
	read, err := client.GetPaymentWithResponse(context.Background(), created.JSON201.PaymentId)
	if err != nil || read.JSON200 == nil {
		panic(fmt.Sprint(err, read))
	}
	status, err := read.JSON200.Status.AsPaymentStatus1()
	fmt.Println(read.JSON200.PaymentId, status, err)
}
`;

const { apiBaseUrl, token } = readConnection(process.argv[2] ?? '.data/connection.json');
const { inherited } = readStackConfig();
const folder = mkdtempSync(join(tmpdir(), 'payments-generated-'));

/** A key belongs to one body, so each client has its own. */
const keyOf = (cwd: string) => `generated-${cwd.slice(folder.length - 6).replaceAll('/', '-')}`;

const run = (cwd: string, program: string, ...args: string[]): string =>
  execFileSync(program, args, {
    cwd,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
    maxBuffer: 64 * 1024 * 1024,
    env: { ...inherited, BASE_URL: apiBaseUrl, TOKEN: token, KEY: keyOf(cwd) },
  });

const python = (): string => {
  const [own, bin] = [join(folder, 'python'), join(folder, 'python/venv/bin')];
  mkdirSync(own);
  run(own, 'python3', '-m', 'venv', 'venv');
  run(own, join(bin, 'pip'), 'install', '--quiet', `openapi-python-client==${versions.python}`);
  run(
    own,
    join(bin, 'openapi-python-client'),
    'generate',
    '--path',
    releasedPath,
    '--output-path',
    'out',
  );
  const generated = join(own, 'out');
  run(generated, join(bin, 'python'), '-m', 'compileall', '-q', 'payments_client');
  writeFileSync(join(generated, 'shop.py'), pythonProgram);
  return run(generated, join(bin, 'python'), 'shop.py');
};

const go = (): string => {
  const own = join(folder, 'go');
  mkdirSync(join(own, 'payments'), { recursive: true });
  copyFileSync(releasedPath, join(own, 'openapi.json'));
  const generator = 'github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen';
  run(own, 'go', 'mod', 'init', 'example.com/shop');
  run(own, 'go', 'get', '-tool', `${generator}@${versions.go}`);
  const options = ['-generate', 'types,client', '-package', 'payments'];
  const code = run(own, 'go', 'tool', 'oapi-codegen', ...options, 'openapi.json');
  writeFileSync(join(own, 'payments/payments.go'), code);
  writeFileSync(join(own, 'main.go'), goProgram);
  run(own, 'go', 'mod', 'tidy');
  run(own, 'go', 'vet', './...');
  return run(own, 'go', 'run', '.');
};

try {
  for (const [name, make] of Object.entries({ python, go }))
    try {
      console.log(`${name}: ${make().trim()}`);
    } catch (error) {
      const { stderr, message } = error as Error & { stderr?: string };
      console.error(
        `${name} failed: ${(stderr ?? message).trim().split('\n').slice(-20).join('\n')}`,
      );
      process.exitCode = 1;
    }
} finally {
  // Go's own caches are elsewhere.
  rmSync(folder, { recursive: true, force: true });
}
