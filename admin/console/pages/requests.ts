import { html } from 'hono/html';
import { requestIdPattern } from '../../../contract/ids.ts';
import type { RefusedRequest } from '../../../postgres/applications/refused-requests.ts';
import { keptRefusals } from '../../../postgres/applications/refused-requests.ts';
import { filterBar } from '../filter-bar.ts';
import { escapeControls, type Html, nowrap, withCode } from '../html.ts';
import { modeName, requestsPath } from '../mode.ts';
import { ofSlug } from '../owner.ts';
import type { ConsoleResponse, Deps, PersonRequest, Route } from '../request.ts';
import { page } from '../request.ts';

const problems = ({ fields }: RefusedRequest): Html | null =>
  fields === null
    ? null
    : html`${fields.map(
        ({ path, rule, message }) =>
          html`<div><code><bdi>${escapeControls(path) || 'the request'}</bdi></code> <bdi>${escapeControls(message)}</bdi> <span class="soft">(${rule})</span></div>`,
      )}`;

/** The last requests of an application that the API refused. */
export const requestRoutes = (deps: Deps): Route[] => {
  const list = async (request: PersonRequest): Promise<ConsoleResponse> => {
    const { cells, params, query, operations, test } = request;
    const slug = params.slug;
    await operations.applications.get(slug);
    const wanted = query.read('id', (text) => (requestIdPattern.test(text) ? text : null));
    const rows = await deps.refusedRequests.list(slug, wanted === null ? { test } : { id: wanted });
    return page(
      `Refused requests of ${slug}`,
      html`${filterBar(request, {
        path: `/applications/${slug}/requests`,
        chips: wanted === null ? [] : [{ words: `Request: ${wanted}`, names: ['id'] }],
        hasTimes: false,
      })}
      ${cells.table({
        caption: 'Refused requests',
        rows: rows.map((refused) => ({
          Time: refused.at,
          Request: html`<code class="id">${refused.id}</code>`,
          Route: nowrap(`${refused.method} ${refused.route}`),
          Status: refused.status,
          Why: withCode('apiError', refused.code),
          'Fields in error': problems(refused),
        })),
        ifEmpty:
          wanted === null
            ? `No request with a ${modeName(test)} token was refused.`
            : 'It is not among the last requests that were refused.',
      })}
      <p class="soft">
        The last ${keptRefusals} with a valid ${modeName(test)} token. A request without a valid token belongs to no
        application and no mode: the log of the API alone has it. Bodies, paths and names of unknown fields are not kept. A client in a loop shows
        20 a second.
      </p>`,
    );
  };
  return [
    {
      method: 'GET',
      path: requestsPath,
      role: 'viewer',
      owner: ofSlug,
      handle: list,
    },
  ];
};
