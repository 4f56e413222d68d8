import { z } from 'zod';
import { presentLink } from '../../contract/links/link.ts';
import { LinkId, LinkResponse } from '../../contract/links/responses.ts';
import type { Links } from '../../postgres/links/links.ts';
import { findOwnLink } from '../http/owned-records.ts';
import type { Handler, RouteSpec } from '../http/route.ts';
import { linkExamples } from './examples.ts';

export const linkParams = z.object({ link_id: LinkId });

export const getLinkRoute = {
  tag: 'Links',
  summary: 'Get one link',
  description:
    'A link of another application, or of the other token mode, responds `404` like one that does not exist.',
  params: linkParams,
  responses: {
    200: { description: 'The link.', content: LinkResponse, examples: linkExamples },
  },
  errors: ['LINK_NOT_FOUND'],
} as const satisfies RouteSpec;

export interface Deps {
  links: Pick<Links, 'get'>;
  publicBaseUrl: string;
}

export const getLinkHandler =
  ({ links, publicBaseUrl }: Deps): Handler<'application', typeof getLinkRoute> =>
  async (request) => ({
    status: 200,
    body: presentLink(await findOwnLink(links, request), publicBaseUrl),
  });
