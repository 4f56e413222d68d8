import { presentLink } from '../../contract/links/link.ts';
import { LinkResponse } from '../../contract/links/responses.ts';
import type { Links } from '../../postgres/links/links.ts';
import { findOwnLink, ownerOf } from '../http/owned-records.ts';
import type { Handler, RouteSpec } from '../http/route.ts';
import { linkParams } from './get.ts';
import { linkExamples } from './examples.ts';

export const disableLinkRoute = {
  tag: 'Links',
  summary: 'Disable a link',
  description:
    'Nobody can begin to pay it any more. A payment that has begun goes on, and may still make the link `paid`. A link that is ' +
    'not `open` stays as it is: look at `status`. Safe to repeat.',
  params: linkParams,
  responses: {
    200: {
      description: 'The link.',
      content: LinkResponse,
      examples: {
        disabled: {
          ...linkExamples.open,
          status: 'disabled',
          disabled_at: '2024-10-02T09:00:00.000+00:00',
        } satisfies LinkResponse,
      },
    },
  },
  errors: ['LINK_NOT_FOUND'],
} as const satisfies RouteSpec;

export interface Deps {
  links: Pick<Links, 'get' | 'disable'>;
  publicBaseUrl: string;
}

export const disableLinkHandler =
  ({ links, publicBaseUrl }: Deps): Handler<'application', typeof disableLinkRoute> =>
  async (request) => {
    const link = await findOwnLink(links, request);
    await links.disable(link.id);
    const disabled = await links.get(link.id, ownerOf(request.caller));
    return { status: 200, body: presentLink(disabled ?? link, publicBaseUrl) };
  };
