import { createHash } from 'node:crypto';
import type { Handler, RouteSpec } from '../http/route.ts';
import { markdown, textOf } from './markdown.ts';
import { type OpenApi, operationsOf, type Schema } from './read-document.ts';
import { schemaRows } from './schema-rows.ts';

export const showDocsRoute = {
  summary: 'Read the contract',
  description: 'A page that shows the contract. It needs no script, and loads nothing.',
  responses: {
    200: { description: 'The page.', headers: ['content-security-policy'], content: 'page' },
  },
  errors: [],
} as const satisfies RouteSpec;

/** @param openApi as made by `createOpenApi`, which cannot be imported here: it reads the table of routes */
export const showDocsHandler = ({
  openApi,
}: {
  openApi: object;
}): Handler<'anyone', typeof showDocsRoute> => {
  // Made at the first request: most processes are never asked.
  let body: Buffer | undefined;
  return async () => {
    body ??= Buffer.from(docsPage(openApi as OpenApi)); // Made by createOpenApi.
    return {
      status: 200,
      headers: { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': policy },
      body,
    };
  };
};

const style = `
  :root { color-scheme: light dark; --ink: #1c2430; --paper: #fff; --soft: #55606e; --line: #d8dde5; --code: #f1f3f6;
    --main: #1d4ed8 }
  @media (prefers-color-scheme: dark) { :root { --ink: #e7ebf1; --paper: #12161c; --soft: #a3afbe; --line: #333c49;
    --code: #1b212a; --main: #8fb2ff } }
  * { box-sizing: border-box }
  html { scroll-padding-top: 1rem }
  body { margin: 0 auto; max-width: 60rem; padding: 1.25rem; overflow-wrap: anywhere; background: var(--paper);
    color: var(--ink); font: 1rem/1.55 system-ui, sans-serif }
  h1 { font-size: 1.7rem; margin: .5rem 0 } h2 { margin: 2.5rem 0 .5rem; padding-top: .5rem; border-top: 2px solid var(--line) }
  h3 { margin: 2rem 0 .25rem } h4 { margin: 1.25rem 0 .25rem; font-size: 1rem }
  a { color: var(--main) } a:focus-visible, summary:focus-visible { outline: 3px solid var(--main); outline-offset: 2px }
  code, pre { font: .9em/1.5 ui-monospace, monospace; background: var(--code); border-radius: .3rem }
  code { padding: .1em .3em } pre { padding: .75rem; white-space: pre-wrap; margin: .5rem 0 }
  pre code, .path code { padding: 0; background: none }
  .soft { color: var(--soft) } .path { margin: 0; font-weight: 600 }
  nav ul { list-style: none; padding: 0; margin: 0 } nav li a { display: block; padding: .2rem 0; min-height: 1.75rem }
  dl { margin: .5rem 0; border-top: 1px solid var(--line) }
  dt { padding-top: .5rem } dd { margin: 0; padding: 0 0 .5rem 1rem; border-bottom: 1px solid var(--line) }
  dd p { margin: .15rem 0 } details { margin: .5rem 0 } summary { cursor: pointer; padding: .3rem 0; min-height: 1.75rem }`;

const policy = [
  `default-src 'none'`,
  `style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'`,
  // The page names an empty icon, so that a browser asks for none.
  `img-src data:`,
  `base-uri 'none'`,
  `form-action 'none'`,
  `frame-ancestors 'none'`,
].join('; ');

const docsPage = (openApi: OpenApi): string => {
  const { info, servers, tags, components } = openApi;
  const base = servers[0]?.url ?? '';
  const operations = operationsOf(openApi);
  const groups = [
    ...tags.map(({ name, description }) => ({ name, description })),
    {
      name: 'Webhooks',
      description: 'What the service sends to the webhook URL of an application.',
    },
  ].map((group) => ({ ...group, members: operations.filter(({ tag }) => tag === group.name) }));
  // Each error code has a schema of its own, and the responses name the codes.
  const schemas = Object.entries(components.schemas).filter(([name]) => !name.startsWith('Error_'));
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${textOf(info.title)} API</title>
<link rel="icon" href="data:,">
<style>${style}</style>
</head>
<body>
<main>
<h1>${textOf(info.title)} API ${textOf(info.version)}</h1>
<p><a href="openapi.json">openapi.json</a> is the same as a file, for generators of clients.</p>
<h2 id="first">A first payment</h2>
<pre><code>${textOf(firstCall(base))}</code></pre>
<p>Open <code>checkout_url</code> of the answer in a browser.</p>
<nav aria-label="Operations">
<h2 id="operations">Operations</h2>
${groups
  .map(
    ({ name, members }) =>
      `<h3>${textOf(name)}</h3><ul>${members.map(({ id, method, path, summary }) => `<li><a href="#${id}">${textOf(summary)} <span class="soft">${method} ${textOf(path)}</span></a></li>`).join('')}</ul>`,
  )
  .join('\n')}
</nav>
<h2 id="rules">For all operations</h2>
${markdown(info.description)}
${groups
  .map(
    ({ name, description, members }) =>
      `<h2>${textOf(name)}</h2>${markdown(description)}${members.map((each) => operationPart(each, base)).join('\n')}`,
  )
  .join('\n')}
<h2 id="objects">Objects</h2>
${schemas.map(([name, schema]) => schemaPart(name, schema)).join('\n')}
</main>
</body>
</html>
`;
};

const firstCall = (base: string): string =>
  `curl ${base}/api/v1/payments -H "Authorization: Bearer $TOKEN" \\
  -H 'Content-Type: application/json' \\
  -d '{"order_id": "order-1", "amount": 1250, "currency": "EUR"}'`;

type Operation = ReturnType<typeof operationsOf>[number];

const operationPart = (operation: Operation, base: string): string => {
  const { id, method, path, summary, description, parameters, body, responses } = operation;
  return `<article aria-labelledby="${id}">
<h3 id="${id}">${textOf(summary)}</h3>
<p class="path"><code>${method} ${textOf(path)}</code></p>
${markdown(description)}
${operation.needsToken ? `<pre><code>${textOf(curlOf(operation, base))}</code></pre>` : ''}
${
  parameters.length === 0
    ? ''
    : `<h4>Parameters</h4><dl>${parameters
        .map(({ name, place, required, schema, text }) =>
          row(
            name,
            [`in the ${place}`, ...(required ? ['required'] : []), ...schemaRows(schema).facts],
            text,
          ),
        )
        .join('')}</dl>`
}
${body === undefined ? '' : `<h4>Body</h4>${markdown(body.text)}${fields(body.schema)}${examples(body.examples)}`}
<h4>Responses</h4>
<dl>${responses.map(responseRow).join('')}</dl>
</article>`;
};

/** Errors have one form, which the page describes once. */
const responseRow = ({ status, text, schema, examples: shown }: Operation['responses'][number]) => {
  const content =
    status.startsWith('2') && schema !== undefined ? `${fields(schema)}${examples(shown)}` : '';
  return `<dt><code>${status}</code></dt><dd>${markdown(text)}${content}</dd>`;
};

const curlOf = ({ method, path, body }: Operation, base: string): string => {
  const url = `${base}${path.replaceAll(/\{(\w+)\}/g, (_, name: string) => `$${name.toUpperCase()}`)}`;
  const [example] = Object.values(body?.examples ?? {});
  return [
    `curl ${method === 'GET' ? '' : `-X ${method} `}"${url}" -H "Authorization: Bearer $TOKEN"`,
    ...(example === undefined
      ? []
      : [`  -H 'Content-Type: application/json'`, `  -d '${JSON.stringify(example)}'`]),
  ].join(' \\\n');
};

const examples = (all: Readonly<Record<string, unknown>>): string =>
  Object.entries(all)
    .map(
      ([name, value]) =>
        `<details><summary>Example: ${textOf(name)}</summary><pre><code>${textOf(JSON.stringify(value, null, 2))}</code></pre></details>`,
    )
    .join('');

const row = (name: string, facts: readonly string[], text: string): string =>
  `<dt><code>${textOf(name)}</code> <span class="soft">${facts.map(factOf).join(', ')}</span></dt><dd>${markdown(text)}</dd>`;

/** A fact is a text, or the name of an object. */
const factOf = (fact: string): string =>
  fact.replaceAll(/#(\w+)|([^#]+)/g, (_, name: string | undefined, text: string | undefined) =>
    name === undefined ? textOf(text ?? '') : `<a href="#object-${name}">${textOf(name)}</a>`,
  );

const fields = (schema: Schema): string => {
  const { facts, text, members } = schemaRows(schema);
  if (members.length === 0)
    return facts.length === 0
      ? ''
      : `<p class="soft">${facts.map(factOf).join(', ')}</p>${markdown(text)}`;
  return `<dl>${members.map((each) => row(each.name, each.facts, each.text)).join('')}</dl>`;
};

const schemaPart = (name: string, schema: Schema): string =>
  `<article aria-labelledby="object-${name}"><h3 id="object-${name}">${textOf(name)}</h3>${markdown(schema.description ?? '')}${fields({ ...schema, description: '' })}</article>`;
