import type { ApplicationResponse } from '../../contract/responses.ts';
import type { Handlers } from '../routes.ts';

/** Who calls; authentication has read it all. */
export const applicationHandlers: Pick<Handlers, 'getApplication'> = {
  async getApplication({ caller }) {
    const { slug, kind } = caller.defaultGateway;
    const answer: ApplicationResponse = {
      application: caller.application,
      status: 'active',
      default_gateway: { slug, kind },
      callback_urls: caller.callbackUrls,
      webhook_url: caller.webhookUrl,
      token_mode: caller.mode,
    };
    return { status: 200, body: JSON.stringify(answer) };
  },
};
