import type { CheckoutPayment } from '../../postgres/payments/payments.ts';

/** A payer who waits is asked for again after at least this pause. */
const shortestPauseMs = 40;
const longestPauseMs = 500;
/** The pause grows with the time that openings take: a payer who waits long does not notice it. */
const pauseShare = 1 / 3;
/** The newest opening has this share in their average. */
const newest = 1 / 8;
/** Payments in one statement. */
const most = 200;

/** The payment is still being opened. */
export const mustWait = ({ redirect, status }: CheckoutPayment): boolean =>
  redirect === null && status === 'pending';

interface Payer {
  id: string;
  /** A statement of another payer asks for this one, too, if it begins after `from`. Its own begins at `due`. */
  from: number;
  due: number;
  answer: PromiseWithResolvers<CheckoutPayment | undefined>;
}

/**
 * The payers at the checkouts of this process share statements: those who come, and those who wait for an opening.
 * @param send records of each payment that its payer goes to the gateway, and reads it
 */
export const createCheckouts = (send: (ids: string[]) => Promise<CheckoutPayment[]>) => {
  let payers: Payer[] = [];
  let isAsking = false;
  let timer: NodeJS.Timeout | undefined;
  let openingMs = 0;

  const plan = (): void => {
    clearTimeout(timer);
    if (isAsking || payers.length === 0) return;
    const next = payers.reduce((due, payer) => Math.min(due, payer.due), Infinity);
    timer = setTimeout(() => void ask(), Math.max(next - performance.now(), 0));
  };

  const ask = async (): Promise<void> => {
    const now = performance.now();
    const asked = payers.filter(({ from }) => from <= now).slice(0, most);
    payers = payers.filter((payer) => !asked.includes(payer));
    isAsking = true;
    try {
      const found = await send([...new Set(asked.map(({ id }) => id))]);
      const byId = new Map(found.map((payment) => [payment.id, payment]));
      for (const { id, answer } of asked) answer.resolve(byId.get(id));
    } catch (error) {
      for (const { answer } of asked) answer.reject(error);
    }
    isAsking = false;
    plan();
  };

  const enter = (id: string, from: number, due: number) => {
    const answer = Promise.withResolvers<CheckoutPayment | undefined>();
    payers.push({ id, from, due, answer });
    plan();
    return answer.promise;
  };

  return {
    /** For a payer who has just come. */
    first(id: string): Promise<CheckoutPayment | undefined> {
      const now = performance.now();
      return enter(id, now, now);
    },

    /**
     * For a payer who waits: after a pause, or with others.
     * @param cameAt by `performance.now()`
     */
    async again(id: string, cameAt: number): Promise<CheckoutPayment | undefined> {
      const now = performance.now();
      const pauseMs = Math.min(Math.max(shortestPauseMs, openingMs * pauseShare), longestPauseMs);
      const payment = await enter(id, now + shortestPauseMs, now + pauseMs);
      if (payment && !mustWait(payment))
        openingMs += (performance.now() - cameAt - openingMs) * newest;
      return payment;
    },
  };
};
