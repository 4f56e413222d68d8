import { terminalStatuses } from '../contract/status.ts';
import type { Gateway } from './gateways.ts';
import type { Random } from './random.ts';

/** What an application wants to be paid, and how its payer behaves. */
export interface Wish {
  order: string;
  gateway: Gateway;
  amount: number;
  currency: string;
  expiresInSeconds: number;
  story: Story;
}

/** A wish that was answered 201. */
export interface Created extends Wish {
  id: string;
  expiresAt: number;
  /** The gateway's name for it, once its payer was sent there. */
  reference?: string;
}

/** Relative frequencies. `slow` ones need the payment's deadline, or the sweep. */
const quickStories = { pay: 30, payTwice: 14, refuse: 10, cancel: 10, wrongAmount: 3 } as const;
const slowStories = { payAndVanish: 8, leave: 6, never: 4, early: 5, edge: 5, late: 6 } as const;
export type Story = keyof typeof quickStories | keyof typeof slowStories;

export interface WishOptions {
  payments: number;
  gateways: Gateway[];
  random: Random;
  /** Only payers whose payments end without waiting for a deadline. */
  quick: boolean;
}

/** Undefined: nobody knows. */
export const isTerminal = (status: string | undefined): boolean =>
  terminalStatuses.some((terminal) => terminal === status);

/** Everything about the payers that the seed decides. */
export const drawWishes = ({ payments, gateways, random, quick }: WishOptions): Wish[] => {
  const stories: Partial<Record<Story, number>> = quick
    ? quickStories
    : { ...quickStories, ...slowStories };
  const lots = Object.entries(stories).flatMap(([story, weight]) =>
    Array.from({ length: weight }, () => story as Story),
  );
  return Array.from({ length: payments }, (_, index) => {
    const gateway = random.pick(gateways);
    const story = random.pick(lots);
    return {
      ...{ order: `order-${index + 1}`, gateway, story },
      ...gateway.anAmount(random),
      // The shortest there is: nothing is shifted, so deadlines must come by themselves.
      expiresInSeconds: story in quickStories ? Math.round(random.between(60, 120)) : 60,
    };
  });
};
