import { terminalStatuses } from '../contract/status.ts';
import type { Gateway } from './gateways.ts';
import type { Random } from './random.ts';

/** A payment that the application asks for, and the behaviour of its payer. */
export interface Scenario {
  order: string;
  gateway: Gateway;
  amount: number;
  currency: string;
  expiresInSeconds: number;
  behaviour: Behaviour;
  /** The application gives the money back in this way once it is paid. */
  refund?: RefundWish | undefined;
}

/** A scenario whose payment the service has created. */
export interface CreatedPayment extends Scenario {
  id: string;
  expiresAt: number;
  /** The gateway's name for it, once its payer was sent there. */
  reference?: string;
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
}

/** Undefined is an unknown status. */
export const isTerminal = (status: string | undefined): boolean =>
  terminalStatuses.some((terminal) => terminal === status);

/** Draws everything about the payers that the seed decides. */
export const drawScenarios = ({
  payments,
  gateways,
  random,
  quick,
}: ScenarioOptions): Scenario[] => {
  const weights: Partial<Record<Behaviour, number>> = quick
    ? quickBehaviours
    : { ...quickBehaviours, ...slowBehaviours };
  const lots = Object.entries(weights).flatMap(([behaviour, weight]) =>
    Array.from({ length: weight }, () => behaviour as Behaviour),
  );
  return Array.from({ length: payments }, (_, index) => {
    const gateway = random.pick(gateways);
    const behaviour = random.pick(lots);
    return {
      order: `order-${index + 1}`,
      gateway,
      behaviour,
      ...gateway.drawAmount(random),
      refund:
        gateway.refundAtDashboard && behaviour.startsWith('pay') && random.chance(0.6)
          ? random.pick(refundWishes)
          : undefined,
      // The shortest there is: time is not skipped, so deadlines really have to pass.
      expiresInSeconds: behaviour in quickBehaviours ? Math.round(random.between(60, 120)) : 60,
    };
  });
};
