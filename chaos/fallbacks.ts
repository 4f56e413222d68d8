import type { Outage } from './disruptions.ts';
import { findRequestProblems } from './gateway-records.ts';
import type { Gateway, OpeningFault } from './gateways.ts';
import type { CreatedPayment } from './scenarios.ts';
import type { ShownPayment } from './service-records.ts';

/** A time in which a gateway opened no payment. */
export interface OpeningOutage extends Outage {
  gateway: Gateway;
  fault: OpeningFault;
}

/** The gateway whose page this is. The only candidate may have its pages elsewhere, as Stripe does. */
export const gatewayOf = ({ candidates, gateway }: CreatedPayment, page: string): Gateway =>
  candidates.find(({ link }) => page.startsWith(`${link.url}/`)) ?? gateway;

/** The gateway's name for the payment, which ends the address of its page, as a part of the path or a field of the query. */
export const referenceOf = (page: string): string => /[^/=]*$/.exec(page)?.[0] ?? '';

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

interface Run {
  payments: readonly CreatedPayment[];
  records: { shown: ReadonlyMap<string, Pick<ShownPayment, 'failure_code'>> };
}

/** A payment that loses its order before it has a page does not need one. */
const findWanted = ({ payments, records }: Run): CreatedPayment[] =>
  payments.filter(
    ({ id, behaviour, reference }) =>
      behaviour !== 'never' &&
      (reference !== undefined || records.shown.get(id)?.failure_code !== 'order_already_paid'),
  );

const wasCreatedIn = (
  { gateway, from, to }: OpeningOutage,
  { candidates: [first], createdAt }: CreatedPayment,
): boolean => gateway === first && from <= createdAt && createdAt < to;

const isElsewhere = ({ gateway, candidates }: CreatedPayment): boolean => gateway !== candidates[0];

/** Whether another gateway has opened a payment that was created in the outage. */
export const isServed = (outage: OpeningOutage, payments: readonly CreatedPayment[]): boolean =>
  payments.some((payment) => wasCreatedIn(outage, payment) && isElsewhere(payment));

export const measureConversion = (run: Run, outages: readonly OpeningOutage[]): Conversion => {
  const wanted = findWanted(run);
  const isDown = (payment: CreatedPayment) =>
    outages.some((outage) => wasCreatedIn(outage, payment));
  const count = (some: readonly CreatedPayment[]): Openings => ({
    wanted: some.length,
    opened: some.filter(({ reference }) => reference !== undefined).length,
    elsewhere: some.filter(isElsewhere).length,
  });
  return {
    down: count(wanted.filter(isDown)),
    up: count(wanted.filter((payment) => !isDown(payment))),
    inVain: outages.reduce((sum, outage) => sum + outage.gateway.countOpenings(outage), 0),
  };
};

/** While the load waits no process is killed, so each of them has long been ready again. */
const longEnoughMs = 60_000;

/** Finds outages in which payments waited for long, and no other gateway has opened any. */
export const findUnusedFallbacks = (run: Run, outages: readonly OpeningOutage[]): string[] =>
  outages.flatMap((outage) => {
    const { gateway, fault, to } = outage;
    const waited = findWanted(run).filter((payment) =>
      wasCreatedIn({ ...outage, to: to - longEnoughMs }, payment),
    );
    if (waited.length === 0 || isServed(outage, run.payments)) return [];
    return [
      `${gateway.slug} opened nothing (${fault}), ${waited.length} payments waited for a minute or longer, and no other gateway opened any`,
    ];
  });

/** A slow machine delays all payments alike, so only the draw of them differs: no more than this much, or three standard errors. */
const tolerance = 0.1;
const standardErrors = 3;

/** Finds payers whom a gateway that is down has stopped although another one could open their payments. */
export const findConversionProblems = ({ down, up }: Conversion): string[] => {
  if (down.wanted === 0 || up.wanted === 0) return [];
  const all = (down.opened + up.opened) / (down.wanted + up.wanted);
  const error = Math.sqrt(all * (1 - all) * (1 / down.wanted + 1 / up.wanted));
  const lost = up.opened / up.wanted - down.opened / down.wanted;
  if (lost <= Math.max(tolerance, standardErrors * error)) return [];
  return [
    `only ${down.opened} of ${down.wanted} payments were opened while their first gateway was down, of the others ${up.opened} of ${up.wanted}`,
  ];
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
