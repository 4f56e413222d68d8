import { setTimeout as sleep } from 'node:timers/promises';
import type { Answer, Arrival, Call, Shape } from '../tools/compose/shape.ts';

export interface Options {
  token: string;
  /** Payers a second. */
  rate: number;
  /** Each service whose containers are killed, one container after the other. */
  services: readonly string[];
}

const choices = ['pay', 'pay', 'pay', 'refuse', 'cancel', 'pay'] as const;
const outcomes = { pay: 'paid', refuse: 'failed', cancel: 'cancelled' } as const;
type Choice = (typeof choices)[number];

interface Payment {
  order: string;
  choice: Choice;
  id: string;
  /** The statuses that the payer's browser was told. */
  told: string[];
}

/** The time for which a payer or caller tries again. */
const patienceMs = 90_000;
const pauseMs = 500;
const recoveryMs = 60_000;
const betweenKillsMs = 3_000;
/** A killed worker's delivery is repeated within about a minute, an outcome that was missed after three. */
const drainMs = 240_000;

/**
 * Payers pay through the proxy while SIGKILL ends every container in turn. Then every payment must have
 * ended once, as its payer decided, and the application must know exactly that.
 * @returns a line for each violation
 */
export const killContainersInTurn = async (shape: Shape, { token, rate, services }: Options) => {
  const violations: string[] = [];
  const payers = createPayers(shape, token, violations);
  const paying: Promise<Payment | undefined>[] = [];
  let isOver = false;
  const killing = killAll(shape, services).finally(() => {
    isOver = true;
  });
  while (!isOver) {
    paying.push(payers.buy(paying.length));
    await sleep(1000 / rate);
  }
  const kills = await killing;
  const payments = (await Promise.all(paying)).filter((one) => one !== undefined);
  await drained(shape, payments);
  violations.push(...(await check(shape, payments, payers.read)));
  return { payments: payments.length, kills, violations };
};

const killAll = async ({ sh }: Shape, services: readonly string[]): Promise<number> => {
  const ids = await sh(`docker compose ps --quiet ${services.join(' ')}`);
  let kills = 0;
  for (const id of ids.split('\n')) {
    const inspect = (format: string) => sh(`docker inspect --format '{{${format}}}' ${id}`);
    // Not `docker kill`, which Docker takes for a stop.
    process.kill(Number(await inspect('.State.Pid')), 'SIGKILL');
    kills += 1;
    await sleep(betweenKillsMs);
    const until = Date.now() + recoveryMs;
    while ((await inspect('.State.Health.Status')) !== 'healthy')
      if (Date.now() > until) throw new Error(`${id} was killed and did not become healthy again`);
      else await sleep(pauseMs);
  }
  return kills;
};

const createPayers = (shape: Shape, token: string, violations: string[]) => {
  const authorization = `Bearer ${token}`;
  const run = Date.now().toString(36);
  let calls = 0;

  /** Tries again until one of these answers comes. A kill may look like 502, 503 or no answer. */
  const patiently = async (path: string, call: Call, takes: number[]): Promise<Answer> => {
    for (const until = Date.now() + patienceMs; ; await sleep(pauseMs)) {
      calls += 1;
      const from = shape.clientAddresses[calls % shape.clientAddresses.length] ?? '';
      const answer = await shape.call(path, { ...call, from }).catch(() => undefined);
      if (answer && takes.includes(answer.status)) return answer;
      if (answer && ![502, 503].includes(answer.status))
        violations.push(`${path} was answered ${answer.status}: ${answer.body.slice(0, 200)}`);
      if (Date.now() > until) throw new Error(`${path} got no answer`);
    }
  };

  const buy = async (index: number): Promise<Payment | undefined> => {
    const choice = choices[index % choices.length] ?? 'pay';
    const order = `${run}-${index}`;
    try {
      const created = await patiently(
        '/api/v1/payments',
        {
          method: 'POST',
          headers: { authorization, 'content-type': 'application/json', 'idempotency-key': order },
          body: JSON.stringify({ order_id: order, amount: 1000 + index, currency: 'EUR' }),
        },
        [201],
      );
      const { payment_id: id } = JSON.parse(created.body) as { payment_id: string };
      const payment: Payment = { order, choice, id, told: [] };
      await patiently(`/api/v1/payments/${id}/checkout`, {}, [302]);
      const chosen = await patiently(
        `/api/v1/sandbox/${id}`,
        {
          method: 'POST',
          headers: { 'content-type': 'application/x-www-form-urlencoded' },
          body: `action=${choice}`,
        },
        [303],
      );
      const { pathname, search } = new URL(chosen.location);
      // Some come back twice.
      for (let times = index % 5 === 0 ? 2 : 1; times > 0; times -= 1) {
        const back = await patiently(pathname + search, {}, [303]);
        payment.told.push(new URL(back.location).searchParams.get('status') ?? 'nothing');
      }
      return payment;
    } catch (error) {
      violations.push(`${order}: ${String(error)}`);
      return undefined;
    }
  };

  const read = async (path: string): Promise<unknown> =>
    JSON.parse((await patiently(path, { headers: { authorization } }, [200])).body);
  return { buy, read };
};

const drained = async ({ receiver }: Shape, payments: readonly Payment[]) => {
  const until = Date.now() + drainMs;
  const isDone = () => {
    const arrived = new Set(receiver.arrivals.map(({ paymentId }) => paymentId));
    return payments.every(({ id }) => arrived.has(id));
  };
  while (!isDone() && Date.now() < until) await sleep(pauseMs);
};

const check = async (
  { receiver, sh }: Shape,
  payments: readonly Payment[],
  read: (path: string) => Promise<unknown>,
): Promise<string[]> => {
  const arrivals = Map.groupBy(receiver.arrivals, ({ paymentId }) => paymentId);
  const found: string[] = [];
  for (const { order, choice, id, told } of payments) {
    const wanted = outcomes[choice];
    const { data } = (await read(`/api/v1/payments?order_id=${order}`)) as {
      data: { payment_id: string; status: string }[];
    };
    const [payment, ...others] = data;
    const problems = [
      ...(others.length > 0 ? [`there are ${data.length} payments`] : []),
      ...(payment?.payment_id === id ? [] : [`the API lists ${payment?.payment_id}`]),
      ...(payment?.status === wanted ? [] : [`it is ${payment?.status}, and not ${wanted}`]),
      ...told
        .filter((status) => ![wanted, 'processing', 'pending'].includes(status))
        .map((status) => `the payer was told ${status}`),
      ...webhookProblems(arrivals.get(id) ?? [], `payment.${wanted}`),
    ];
    found.push(...problems.map((problem) => `${id} (${order}): ${problem}`));
  }
  await sh('docker compose run --rm -T admin reconcile').catch((error: { stdout?: string }) =>
    found.push(`reconcile: ${error.stdout}`),
  );
  return found;
};

const webhookProblems = (arrived: readonly Arrival[], event: string): string[] => {
  const [first] = arrived;
  if (!first) return ['its webhook did not arrive'];
  return [
    ...(arrived.every(({ body }) => body === first.body) ? [] : ['other bytes arrived']),
    ...(arrived.every(({ isSigned }) => isSigned) ? [] : ['a webhook was not signed']),
    ...(first.event === event ? [] : [`the webhook said ${first.event}`]),
  ];
};
