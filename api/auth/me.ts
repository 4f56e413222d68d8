import { ApplicationResponse } from '../../contract/application-response.ts';
import type { Handler, RouteSpec } from '../http/route.ts';

const exampleApplication: ApplicationResponse = {
  application: 'shop',
  status: 'active',
  default_gateway: { slug: 'sandbox', kind: 'sandbox' },
  callback_urls: ['https://shop.example/return'],
  webhook_url: 'https://shop.example/webhook',
  token_mode: 'test',
};

export const getApplicationRoute = {
  summary: 'Identify the calling application',
  description: 'Returns the application that the token belongs to, without any secret.',
  responses: {
    200: {
      description: 'The application.',
      content: ApplicationResponse,
      examples: { application: exampleApplication },
    },
  },
  errors: [],
} as const satisfies RouteSpec;

/** Authentication has read all of it. */
export const getApplicationHandler =
  (): Handler<'application', typeof getApplicationRoute> =>
  async ({ caller }) => {
    const { slug, kind } = caller.defaultGateway;
    const application: ApplicationResponse = {
      application: caller.application,
      status: 'active',
      default_gateway: { slug, kind },
      callback_urls: caller.callbackUrls,
      webhook_url: caller.webhookUrl,
      token_mode: caller.mode,
    };
    return { status: 200, body: JSON.stringify(application) };
  };
