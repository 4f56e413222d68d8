import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import type { Handler, RouteSpec } from '../http/route.ts';

/** The files of the page. All but the last come from swagger-ui-dist. */
const assetNames = [
  'swagger-ui.css',
  'swagger-ui-bundle.js',
  'favicon-32x32.png',
  'start.js',
] as const;

export const showDocsRoute = {
  summary: 'Read the contract',
  description:
    'A page that shows the contract and sends requests to try it. It loads nothing from other origins.',
  responses: {
    200: { description: 'The page.', headers: ['content-security-policy'], content: 'page' },
  },
  errors: [],
} as const satisfies RouteSpec;

export const getDocsAssetRoute = {
  summary: 'Get a file of the docs page',
  description: "The page's style, scripts and icon.",
  params: z.object({
    asset: z.enum(assetNames).meta({ description: 'Name of the file.' }),
  }),
  responses: { 200: { description: 'The file.', content: 'asset' } },
  errors: ['NOT_FOUND'],
} as const satisfies RouteSpec;

export const showDocsHandler = (): Handler<'anyone', typeof showDocsRoute> => async () => ({
  status: 200,
  headers: { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': policy },
  body: docsPage,
});

/** Reads the files once and serves them from memory. */
export const getDocsAssetHandler = (): Handler<'anyone', typeof getDocsAssetRoute> => {
  const folder = dirname(fileURLToPath(import.meta.resolve('swagger-ui-dist/package.json')));
  const assets = new Map<string, Buffer>(
    assetNames.map((name) => [
      name,
      name === 'start.js' ? Buffer.from(startScript) : readFileSync(join(folder, name)),
    ]),
  );
  return async ({ params, refuse }) => {
    const name = params['asset'] ?? '';
    const body = assets.get(name);
    if (!body) throw refuse('NOT_FOUND');
    const extension = name.slice(name.lastIndexOf('.') + 1) as keyof typeof contentTypes;
    return {
      status: 200,
      headers: {
        'content-type': contentTypes[extension],
        'cache-control': 'public, max-age=3600',
      },
      body,
    };
  };
};

const contentTypes = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  png: 'image/png',
} as const;

/** Swagger UI writes style attributes, and its arrows are data: images. */
const policy = [
  `default-src 'none'`,
  `script-src 'self'`,
  `style-src 'self' 'unsafe-inline'`,
  `img-src 'self' data:`,
  `connect-src 'self'`,
  `base-uri 'none'`,
  `form-action 'none'`,
  `frame-ancestors 'none'`,
].join('; ');

const docsPage = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Payments API</title>
<link rel="icon" href="docs/favicon-32x32.png">
<link rel="stylesheet" href="docs/swagger-ui.css">
<script src="docs/swagger-ui-bundle.js" defer></script>
<script src="docs/start.js" defer></script>
</head>
<body>
<div id="docs"><p>A script shows the contract here; <a href="openapi.json">openapi.json</a> is the same as a file.</p></div>
</body>
</html>
`;

/** Requests go to the origin that the page was opened at, because its policy allows no other. */
const startScript = `void (async () => {
const response = await fetch('openapi.json');
const spec = await response.json();
const base = new URL('../..', location.href).href.replace(/\\/$/, '');
SwaggerUIBundle({
  spec: { ...spec, servers: [{ url: base }] },
  dom_id: '#docs',
  deepLinking: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
  validatorUrl: null,
});
})();
`;
