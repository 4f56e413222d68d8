import { type Link, presentLink } from '../../contract/links/link.ts';
import { LinkListResponse } from '../../contract/links/responses.ts';
import { linkCursors, ListLinks } from '../../contract/links/list.ts';
import type { Links } from '../../postgres/links/links.ts';
import { cursorAfter, listHandler, perPageExample } from '../http/list-handler.ts';
import type { Handler, RouteSpec } from '../http/route.ts';
import { linkExamples } from './examples.ts';

const exampleList: LinkListResponse = {
  data: [linkExamples.open],
  pagination: { per_page: 20, has_more: false, next_cursor: null },
};

export const listLinksRoute = {
  tag: 'Links',
  summary: 'List links',
  description:
    "The links of the application and the token's mode, newest first by `created_at`. A link must match all filters. Unknown or " +
    'repeated parameters and values out of range are rejected.',
  query: ListLinks,
  validationExample: perPageExample,
  responses: {
    200: {
      description: 'A page of links.',
      content: LinkListResponse,
      examples: { list: exampleList },
    },
  },
  errors: [],
} as const satisfies RouteSpec;

export interface Deps {
  links: Pick<Links, 'list'>;
  publicBaseUrl: string;
}

export const listLinksHandler = ({
  links,
  publicBaseUrl,
}: Deps): Handler<'application', typeof listLinksRoute> =>
  listHandler<ListLinks, Link>({
    query: ListLinks,
    find: (filter, page) => links.list(filter, page),
    present: (link) => presentLink(link, publicBaseUrl),
    nextCursor: cursorAfter(linkCursors, ({ createdAt }: Link) => createdAt),
  });
