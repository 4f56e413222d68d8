import type { Application } from './application.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Payers } from './payers.ts';
import type { Random } from './random.ts';
import type { Created, Story } from './wishes.ts';

export interface People {
  application: Application;
  payers: Payers;
}

interface Visit extends People {
  payment: Created;
  /** The gateway's name for the payment. */
  reference: string;
  random: Random;
}

/** From the creation until the payer does nothing more. */
export const live = async (people: People, payment: Created, random: Random): Promise<void> => {
  if (payment.story === 'never') return;
  await sleep(random.between(0, 500));
  const reference = await people.payers.toGateway(payment);
  if (reference === undefined) return;
  await sleep(random.between(100, 2_000));
  await stories[payment.story]({ ...people, payment, reference, random });
};

const pay = ({ payers, payment, reference }: Visit) =>
  payers.decide(payment, { reference, what: 'paid' });

const until = (at: number) => sleep(Math.max(at - Date.now(), 0));

const stories: Record<Exclude<Story, 'never'>, (visit: Visit) => Promise<void>> = {
  async pay(visit) {
    const { application, payers, payment, reference, random } = visit;
    pay(visit);
    await payers.comeBack(payment, reference);
    if (random.chance(0.3)) await application.verify(payment);
  },
  /** Through both API processes at once, while the application asks as well; and once more. */
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
    payers.decide(payment, { reference, what: 'refused' });
    await payers.comeBack(payment, reference);
  },
  async cancel({ payers, payment, reference }) {
    payers.decide(payment, { reference, what: 'cancelled' });
    await payers.comeBack(payment, reference);
  },
  async wrongAmount({ payers, payment, reference }) {
    const askFor = Math.ceil(payment.gateway.wireOf(payment.amount) / 2);
    payers.decide(payment, { reference, what: 'paid', askFor });
    await payers.comeBack(payment, reference);
  },
  async payAndVanish(visit) {
    pay(visit);
  },
  async leave() {},
  /** Back before anything is decided, then paid at the gateway's page that is still open. */
  async early(visit) {
    const { payers, payment, reference, random } = visit;
    await payers.comeBack(payment, reference);
    await sleep(random.between(1_000, 20_000));
    pay(visit);
    if (random.chance(0.5)) await payers.comeBack(payment, reference);
  },
  async edge(visit) {
    const { payers, payment, reference, random } = visit;
    await until(payment.expiresAt + random.between(-1_500, 1_500));
    pay(visit);
    await payers.comeBack(payment, reference);
  },
  async late(visit) {
    const { payers, payment, reference, random } = visit;
    await until(payment.expiresAt + random.between(1_000, 20_000));
    pay(visit);
    await payers.comeBack(payment, reference);
  },
};
