import { mostGateways } from '../../contract/create-payment.ts';
import { problemWithGateway } from '../../gateways/terms.ts';
import type { Application } from '../../postgres/applications/applications.ts';
import type { Queries } from '../../postgres/driver/sql.ts';
import { createGateways, type ListedGateway } from '../../postgres/gateways/gateways.ts';
import { Refusal } from './change.ts';

export type OwnGateways = Pick<Application, 'defaultGateway'> &
  Partial<Pick<Application, 'fallbackGateways' | 'allowedGateways'>>;

/** In the order of asking. */
export const slugsOf = ({ defaultGateway, fallbackGateways = [] }: OwnGateways): string[] => [
  defaultGateway,
  ...fallbackGateways,
];

/** The gateways that a create may name. The tests of all may also name the built-in sandbox. */
export const nameableBy = ({ allowedGateways = [], ...own }: OwnGateways): string[] => [
  ...slugsOf(own),
  ...allowedGateways,
];

/** The gateways that stand where the application had others, or none. */
export const newPlaces = (after: OwnGateways, before: OwnGateways | null): string[] => {
  const { defaultGateway, fallbackGateways = [] } = after;
  return [
    ...(defaultGateway === before?.defaultGateway ? [] : [defaultGateway]),
    ...fallbackGateways.filter((slug) => !before?.fallbackGateways?.includes(slug)),
  ];
};

const mostFallbacks = mostGateways - 1;

const mostAllowed = 50;

/** Why a create cannot be allowed to name them. A disabled one takes payments once it is enabled. */
const allowedProblem = (
  slugs: readonly string[],
  known: readonly ListedGateway[],
): string | undefined => {
  const twice = slugs.find((slug, index) => slugs.indexOf(slug) < index);
  if (twice !== undefined) return `The gateway "${twice}" is named twice.`;
  if (slugs.length > mostAllowed) return `An application may name at most ${mostAllowed} others.`;
  const missing = slugs.find((slug) => !known.some((gateway) => gateway.slug === slug));
  return missing && `There is no gateway "${missing}". Add it first.`;
};

/** Why they cannot be the gateways of an application: a payment must go from each of them to the next one. */
const formProblem = (own: OwnGateways, known: readonly ListedGateway[]): string | undefined => {
  const { defaultGateway, fallbackGateways = [] } = own;
  const slugs = slugsOf(own);
  const twice = slugs.find((slug, index) => slugs.indexOf(slug) < index);
  if (twice !== undefined)
    return twice === defaultGateway
      ? `The gateway "${twice}" is the default one: it cannot be its own fallback.`
      : `The fallback gateway "${twice}" is named twice.`;
  if (fallbackGateways.length > mostFallbacks)
    return `An application has at most ${mostFallbacks} fallback gateways.`;
  const kindOf = (slug: string) => known.find((gateway) => gateway.slug === slug)?.kind;
  const missing = slugs.find((slug) => kindOf(slug) === undefined);
  if (missing !== undefined) return `There is no gateway "${missing}". Add it first.`;
  const kind = kindOf(defaultGateway);
  const other = slugs.find((slug) => kindOf(slug) !== kind);
  return (
    other &&
    `"${defaultGateway}" is ${kind} and "${other}" is ${kindOf(other)}: all gateways of an application are live, or all are sandboxes.`
  );
};

/**
 * Why an application cannot have these gateways: also if one with a new place takes no payment, or the last one that
 * takes some would go. A gateway that stands where it was may be disabled.
 * @param before null for a new application
 */
export const problemWithGateways = (
  known: readonly ListedGateway[],
  after: OwnGateways,
  before: OwnGateways | null,
): string | undefined => {
  const problem = formProblem(after, known) ?? allowedProblem(after.allowedGateways ?? [], known);
  if (problem !== undefined) return problem;
  const problemOf = (slug: string) => {
    const gateway = known.find((each) => each.slug === slug);
    return gateway ? problemWithGateway(gateway) : 'is gone';
  };
  const unusable = newPlaces(after, before).find((slug) => problemOf(slug) !== undefined);
  if (unusable !== undefined)
    return `The gateway "${unusable}" ${problemOf(unusable)}, so it takes no payment.`;
  const takesSome = (own: OwnGateways) =>
    slugsOf(own).some((slug) => problemOf(slug) === undefined);
  if (takesSome(after) || (before && !takesSome(before))) return undefined;
  const { defaultGateway } = after;
  return `The application would have no gateway that takes payments: "${defaultGateway}" ${problemOf(defaultGateway)}.`;
};

/** @throws Refusal */
export const checkGateways = async (
  tx: Queries,
  after: OwnGateways,
  before: OwnGateways | null,
): Promise<void> => {
  const problem = problemWithGateways(await createGateways(tx).list(), after, before);
  if (problem !== undefined) throw new Refusal(problem);
};
