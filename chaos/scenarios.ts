import { terminalStatuses } from '../contract/status.ts';
import type { Gateway } from './gateways.ts';
import type { Random } from './random.ts';

/** A payment that the application asks for, and the behaviour of its payer. */
export interface Scenario {
  /** The name of the payment in the run, and its idempotency key. */
  order: string;
  /** The purchase: the same for several payments, of which at most one may be paid. */
  orderId: string;
  /** The application asks for it so much later. */
  afterMs: number;
  /** The first of the candidates. Once its payer was sent to a page, the one whose page that is. */
  gateway: Gateway;
  /** The gateways that may open the payment, in the order of asking. */
  candidates: readonly Gateway[];
  /** The fields of its create that say so. */
  named: { gateway?: string; gateways?: readonly string[] };
  amount: number;
  currency: string;
  expiresInSeconds: number;
  behaviour: Behaviour;
  /** The application gives the money back in this way once it is paid. */
  refund?: RefundWish | undefined;
  /** Its payer begins it by a payment link. */
  byLink?: boolean;
}

/** A scenario whose payment the service did not create, because another one has paid its order. */
export interface RefusedScenario extends Scenario {
  /** The other one, as the service names it. Undefined: the page of a link says only that the order is paid. */
  paidBy: string | undefined;
}

/** A scenario whose payment the service has created. */
export interface CreatedPayment extends Scenario {
  id: string;
  /** When its application knew it. */
  createdAt: number;
  /** Every address at a gateway that its payer was sent to. */
  pages: Set<string>;
  expiresAt: number;
  /** The gateway's name for it, once its payer was sent there. */
  reference?: string;
  /** The payment link by which its payer has begun it. */
  link?: string;
}

/** Relative frequencies. The slow ones need the payment's deadline, or the sweeper. */
const quickBehaviours = {
  pay: 30,
  payTwice: 14,
  refuse: 10,
  cancel: 10,
  wrongAmount: 3,
  callOff: 8,
} as const;
const slowBehaviours = { payAndVanish: 8, leave: 6, never: 4, early: 5, edge: 5, late: 6 } as const;
export type Behaviour = keyof typeof quickBehaviours | keyof typeof slowBehaviours;

/**
 * `whole`: everything, with one key from two callers at once. `parts`: two halves with two keys. `rivals`: three at once of
 * which one fits. `dashboard`: a part at the gateway, while the application asks for everything.
 */
const refundWishes = ['whole', 'parts', 'rivals', 'dashboard'] as const;
export type RefundWish = (typeof refundWishes)[number];

export interface ScenarioOptions {
  payments: number;
  gateways: Gateway[];
  random: Random;
  /** Leaves out the payers whose payments wait for a deadline. */
  quick: boolean;
  /** The most payments of one order. */
  perOrder?: number;
}

/** Most payments of an order with several are paid, and some come when one may be paid already. */
const severalPay = 0.6;
const severalLater = 0.3;
const laterMs = 15_000;
const severalOrders = 0.4;

/** Undefined is an unknown status. */
export const isTerminal = (status: string | undefined): boolean =>
  terminalStatuses.some((terminal) => terminal === status);

/** A payment of a link has the gateways of its application, and half an hour: no run waits for its deadline. */
const mayBeByLink = new Set<Behaviour>(['pay', 'payTwice', 'refuse', 'cancel', 'wrongAmount']);

/** Draws everything about the payers that the seed decides. */
export const drawScenarios = ({
  payments,
  gateways,
  random,
  quick,
  perOrder = 1,
}: ScenarioOptions): Scenario[] => {
  const weights: Partial<Record<Behaviour, number>> = quick
    ? quickBehaviours
    : { ...quickBehaviours, ...slowBehaviours };
  const lots = Object.entries(weights).flatMap(([behaviour, weight]) =>
    Array.from({ length: weight }, () => behaviour as Behaviour),
  );
  // Three times as many as at each of the others.
  const drawn = gateways.flatMap((gateway) =>
    Array.from({ length: gateway.fallbacks.length > 0 ? 3 : 1 }, () => gateway),
  );
  return drawOrders(payments, { random, perOrder }).map((names) => {
    const gateway = random.pick(drawn);
    const isOneOfSeveral = names.order !== names.orderId;
    const behaviour = isOneOfSeveral && random.chance(severalPay) ? 'pay' : random.pick(lots);
    const choice = drawCandidates(gateway, { gateways, random });
    return {
      ...names,
      byLink: choice.candidates.length > 1 && !choice.named.gateways && mayBeByLink.has(behaviour),
      afterMs: isOneOfSeveral && random.chance(severalLater) ? random.between(0, laterMs) : 0,
      gateway,
      ...choice,
      behaviour,
      ...gateway.drawAmount(random),
      refund:
        gateway.refundAtDashboard && behaviour.startsWith('pay') && random.chance(0.6)
          ? random.pick(refundWishes)
          : undefined,
      expiresInSeconds: drawExpiry(behaviour, { random, quick }),
    };
  });
};

/** @returns seconds */
const drawExpiry = (
  behaviour: Behaviour,
  { random, quick }: Pick<ScenarioOptions, 'random' | 'quick'>,
): number => {
  // The shortest there is: time is not skipped, so deadlines really have to pass.
  if (!(behaviour in quickBehaviours)) return 60;
  // No payer waits for these deadlines. Killed processes of a busy machine take a minute to be ready again.
  return quick ? 240 : Math.round(random.between(60, 120));
};

/** A payment at a gateway with fallbacks names two, or none, so that the application's count. */
const drawCandidates = (
  gateway: Gateway,
  { gateways, random }: Pick<ScenarioOptions, 'gateways' | 'random'>,
): Pick<Scenario, 'candidates' | 'named'> => {
  const others = gateway.fallbacks.flatMap(
    (slug) => gateways.find((each) => each.slug === slug) ?? [],
  );
  if (others.length === 0) return { candidates: [gateway], named: { gateway: gateway.slug } };
  if (random.chance(0.5)) return { candidates: [gateway, ...others], named: {} };
  const candidates = [gateway, random.pick(others)];
  return { candidates, named: { gateways: candidates.map(({ slug }) => slug) } };
};

/** The names of the payments, and of the orders that they are for. */
const drawOrders = (
  payments: number,
  { random, perOrder }: { random: Random; perOrder: number },
): Pick<Scenario, 'order' | 'orderId'>[] => {
  const names: Pick<Scenario, 'order' | 'orderId'>[] = [];
  for (let order = 1; names.length < payments; order += 1) {
    const isShared = perOrder > 1 && random.chance(severalOrders);
    const count = isShared ? Math.floor(random.between(2, perOrder + 1)) : 1;
    const orderId = `order-${order}`;
    for (let nth = 1; nth <= count; nth += 1)
      names.push({ orderId, order: isShared ? `${orderId}.${nth}` : orderId });
  }
  return names.slice(0, payments);
};
