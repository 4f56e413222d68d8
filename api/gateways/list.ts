import {
  type GatewayListResponse,
  GatewayListResponse as GatewayListSchema,
  type GatewayResponse,
  ListGateways,
} from '../../contract/list-gateways.ts';
import { problemWithGateway, takenOf, termsOf } from '../../gateways/terms.ts';
import type { Gateways } from '../../postgres/gateways/gateways.ts';
import type { Caller } from '../../postgres/applications/tokens.ts';
import type { Handler, RouteSpec } from '../http/route.ts';
import { gatewayUserOf } from '../payments/new-payment.ts';

const exampleList: GatewayListResponse = {
  data: [
    {
      slug: 'zibal-main',
      kind: 'live',
      position: 1,
      currencies: [{ currency: 'IRR', min: 1_001, max: 999_999_999_999, step: 1 }],
      expires_in: { min: 60, max: 86_400 },
      refunds: { partial: true, least: 1 },
      answers: true,
    },
  ],
};

export const listGatewaysRoute = {
  summary: 'List the gateways',
  description:
    'The gateways that the application may use and that take new payments of the token: what they take, and whether they open payments now. The ' +
    "application's own come first, in the order of asking. A test token sees sandboxes alone. With it an application " +
    'may let its payers choose, and send the chosen `gateway` or several `gateways` with the create.',
  query: ListGateways,
  validationExample: {
    path: 'amount',
    rule: 'invalid_format',
    message: 'must be an integer from 1 to 999999999999',
  },
  responses: {
    200: {
      description: 'The gateways. There are few, so there is one page.',
      content: GatewayListSchema,
      examples: { list: exampleList },
    },
  },
  errors: [],
} as const satisfies RouteSpec;

export interface Deps {
  gateways: Pick<Gateways, 'listUsable'>;
}

export const listGatewaysHandler =
  ({ gateways }: Deps): Handler<'application', typeof listGatewaysRoute> =>
  async ({ caller, query }) => {
    const found = await gateways.listUsable(gatewayUserOf(caller));
    const data = found.flatMap((gateway): GatewayResponse[] => {
      if (problemWithGateway(gateway)) return [];
      const { slug, driver, kind, answers } = gateway;
      const terms = termsOf(driver, gateway);
      const taken = terms && takenOf(terms, query);
      if (!taken || taken.currencies.length === 0) return [];
      return [{ slug, kind, position: positionOf(slug, caller), ...taken, answers }];
    });
    const last = Number.MAX_SAFE_INTEGER;
    const sorted = data.toSorted((one, other) => (one.position ?? last) - (other.position ?? last));
    return { status: 200, body: JSON.stringify({ data: sorted } satisfies GatewayListResponse) };
  };

const positionOf = (slug: string, { defaultGateway, fallbackGateways }: Caller): number | null => {
  const index = [defaultGateway.slug, ...fallbackGateways].indexOf(slug);
  return index === -1 ? null : index + 1;
};
