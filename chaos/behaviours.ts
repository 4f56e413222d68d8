import { setTimeout as sleep } from 'node:timers/promises';
import type { Application } from './application.ts';
import type { BeginByLink } from './by-link.ts';
import type { Payers } from './payers.ts';
import type { Random } from './random.ts';
import type { Behaviour, CreatedPayment } from './scenarios.ts';

export interface Actors {
  application: Application;
  beginByLink: BeginByLink;
  payers: Payers;
}

interface Visit extends Actors {
  payment: CreatedPayment;
  /** The gateway's name for the payment. */
  reference: string;
  random: Random;
}

/** Runs the payer of a payment, from its creation until the payer does nothing more. */
export const runPayer = async (
  actors: Actors,
  payment: CreatedPayment,
  random: Random,
): Promise<void> => {
  if (payment.behaviour === 'never') return;
  await sleep(random.between(0, 500));
  const { payers } = actors;
  const mayMove = payment.candidates.length > 1;
  const [reference] = await Promise.all([
    payers.checkout(payment),
    // In another window.
    ...(mayMove ? [payers.checkout(payment)] : []),
  ]);
  if (reference === undefined) return;
  await sleep(random.between(100, 2_000));
  // Goes back and comes again: it must be the same page.
  if (mayMove) await payers.checkout(payment);
  await behaviours[payment.behaviour]({ ...actors, payment, reference, random });
};

const pay = ({ payers, payment, reference }: Visit) =>
  payers.decide(payment, { reference, decision: 'paid' });

const sleepUntil = (at: number) => sleep(Math.max(at - Date.now(), 0));

const behaviours: Record<Exclude<Behaviour, 'never'>, (visit: Visit) => Promise<void>> = {
  async pay(visit) {
    const { application, payers, payment, reference, random } = visit;
    pay(visit);
    await payers.comeBack(payment, reference);
    if (random.chance(0.3)) await application.verify(payment);
  },
  /** Returns through both API processes at once while the application verifies, and once more later. */
  async payTwice(visit) {
    const { application, payers, payment, reference, random } = visit;
    pay(visit);
    await Promise.all([
      payers.comeBack(payment, reference),
      payers.comeBack(payment, reference),
      application.verify(payment),
    ]);
    await sleep(random.between(0, 5_000));
    await payers.comeBack(payment, reference);
  },
  async refuse({ payers, payment, reference }) {
    payers.decide(payment, { reference, decision: 'refused' });
    await payers.comeBack(payment, reference);
  },
  async cancel({ payers, payment, reference }) {
    payers.decide(payment, { reference, decision: 'cancelled' });
    await payers.comeBack(payment, reference);
  },
  async wrongAmount({ payers, payment, reference }) {
    const amount = Math.ceil(payment.gateway.toGatewayAmount(payment.amount) / 2);
    payers.decide(payment, { reference, decision: 'paid', amount });
    await payers.comeBack(payment, reference);
  },
  async payAndVanish(visit) {
    pay(visit);
  },
  async leave() {},
  /** The application calls the payment off while the payer pays. */
  async callOff(visit) {
    const { application, payers, payment, reference, random } = visit;
    const pays = random.chance(0.5);
    await Promise.all([
      application.cancel(payment),
      sleep(random.between(0, 1_000)).then(() => pays && pay(visit)),
    ]);
    await payers.comeBack(payment, reference);
  },
  /** Returns before deciding, and then pays on the gateway's page, which is still open. */
  async early(visit) {
    const { payers, payment, reference, random } = visit;
    await payers.comeBack(payment, reference);
    await sleep(random.between(1_000, 20_000));
    pay(visit);
    if (random.chance(0.5)) await payers.comeBack(payment, reference);
  },
  /** Pays just before or just after the deadline. */
  async edge(visit) {
    const { payers, payment, reference, random } = visit;
    await sleepUntil(payment.expiresAt + random.between(-1_500, 1_500));
    pay(visit);
    await payers.comeBack(payment, reference);
  },
  async late(visit) {
    const { payers, payment, reference, random } = visit;
    await sleepUntil(payment.expiresAt + random.between(1_000, 20_000));
    pay(visit);
    await payers.comeBack(payment, reference);
  },
};
