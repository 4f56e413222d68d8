import type { Outage } from './disruptions.ts';
import type { Evidence } from './evidence.ts';
import { findRequestProblems } from './gateway-records.ts';
import type { Gateway, OpeningFault } from './gateways.ts';
import type { CreatedPayment } from './scenarios.ts';

/** A time in which a gateway opened no payment. */
export interface OpeningOutage extends Outage {
  gateway: Gateway;
  fault: OpeningFault;
}

/** The gateway whose page this is. The only candidate may have its pages elsewhere, as Stripe does. */
export const gatewayOf = ({ candidates, gateway }: CreatedPayment, page: string): Gateway =>
  candidates.find(({ link }) => page.startsWith(`${link.url}/`)) ?? gateway;

/** The gateway's name for the payment, which ends the address of its page. */
export const referenceOf = (page: string): string => page.slice(page.lastIndexOf('/') + 1);

/**
 * Finds payers who were sent to two pages or to one that is not the payment's, and money at a candidate that has not
 * opened the payment.
 * @param inApi the gateway that the API names
 */
export const findFallbackProblems = (
  payment: CreatedPayment,
  inApi: string | undefined,
): string[] => {
  const { id, candidates, gateway, pages } = payment;
  const problems: string[] = [];
  if (pages.size > 1)
    problems.push(`its payer was sent to ${pages.size} pages: ${[...pages].join(', ')}`);
  for (const page of pages) {
    const { slug, entriesFor } = gatewayOf(payment, page);
    if (!entriesFor(id).some(([reference]) => reference === referenceOf(page)))
      problems.push(`its payer was sent to ${page}, which ${slug} does not know`);
  }
  // It is opened before its payer has a page.
  const allowed = pages.size > 0 ? [gateway] : candidates;
  if (!allowed.some(({ slug }) => slug === inApi))
    problems.push(`the API names ${inApi}, and its payer was sent to ${gateway.slug}`);
  for (const other of candidates.filter((each) => each !== gateway))
    for (const [reference, entry] of other.entriesFor(id)) {
      const { charged, verified, reversed } = entry;
      if (charged + verified + reversed > 0)
        problems.push(
          `${reference} at ${other.slug} moved money, and the payer is at ${gateway.slug}`,
        );
      problems.push(...findRequestProblems({ ...payment, gateway: other }, { reference, entry }));
    }
  return problems;
};

/** Payments whose payers wanted to pay, and how many of them could. */
export interface Openings {
  wanted: number;
  opened: number;
  /** By another gateway than the first. */
  elsewhere: number;
}

export interface Conversion {
  /** Payments that were created while their first gateway opened none. */
  down: Openings;
  /** All the others. */
  up: Openings;
  /** The number of times that a first gateway was asked meanwhile. */
  inVain: number;
}

export const measureConversion = (
  { payments, records }: Pick<Evidence, 'payments' | 'records'>,
  outages: readonly OpeningOutage[],
): Conversion => {
  // A payment that loses its order does not need a page.
  const wanted = payments.filter(
    ({ id, behaviour }) =>
      behaviour !== 'never' && records.shown.get(id)?.failure_code !== 'order_already_paid',
  );
  const isDown = ({ candidates: [first], createdAt }: CreatedPayment) =>
    outages.some(
      ({ gateway, from, to }) => gateway === first && from <= createdAt && createdAt < to,
    );
  const count = (some: readonly CreatedPayment[]): Openings => ({
    wanted: some.length,
    opened: some.filter(({ reference }) => reference !== undefined).length,
    elsewhere: some.filter(({ gateway, candidates }) => gateway !== candidates[0]).length,
  });
  return {
    down: count(wanted.filter(isDown)),
    up: count(wanted.filter((payment) => !isDown(payment))),
    inVain: outages.reduce((sum, outage) => sum + outage.gateway.countOpenings(outage), 0),
  };
};

/** Fewer could all have lost the worker that asked. */
const leastInVain = 5;
/** A slow machine delays all payments alike, so only the draw of them differs: no more than this much, or three standard errors. */
const tolerance = 0.1;
const standardErrors = 3;

/** Finds payers whom a gateway that is down has stopped although another one could open their payments. */
export const findConversionProblems = ({ down, up, inVain }: Conversion): string[] => {
  const problems: string[] = [];
  if (inVain >= leastInVain && down.elsewhere + up.elsewhere === 0)
    problems.push(`a gateway opened nothing ${inVain} times, and no other one was used`);
  if (down.wanted === 0 || up.wanted === 0) return problems;
  const all = (down.opened + up.opened) / (down.wanted + up.wanted);
  const error = Math.sqrt(all * (1 - all) * (1 / down.wanted + 1 / up.wanted));
  const lost = up.opened / up.wanted - down.opened / down.wanted;
  if (lost > Math.max(tolerance, standardErrors * error))
    problems.push(
      `only ${down.opened} of ${down.wanted} payments were opened while their first gateway was down, of the others ${up.opened} of ${up.wanted}`,
    );
  return problems;
};

export const addConversions = (all: readonly Conversion[]): Conversion => ({
  down: addOpenings(all.map(({ down }) => down)),
  up: addOpenings(all.map(({ up }) => up)),
  inVain: all.reduce((sum, { inVain }) => sum + inVain, 0),
});

const addOpenings = (all: readonly Openings[]): Openings =>
  all.reduce(
    (sum, each) => ({
      wanted: sum.wanted + each.wanted,
      opened: sum.opened + each.opened,
      elsewhere: sum.elsewhere + each.elsewhere,
    }),
    { wanted: 0, opened: 0, elsewhere: 0 },
  );
