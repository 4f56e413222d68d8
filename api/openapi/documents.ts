import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createOpenApi } from './document.ts';
import { docsAssets } from './routes.ts';
import type { Handlers } from '../routes.ts';

const contentTypes = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  png: 'image/png',
} as const;

/** The contract for people and machines; everything is made once and kept as bytes. */
export const createDocumentHandlers = ({
  publicBaseUrl,
}: {
  publicBaseUrl: string;
}): Pick<Handlers, 'getOpenApi' | 'showDocs' | 'getDocsAsset'> => {
  const openApi = Buffer.from(JSON.stringify(createOpenApi(publicBaseUrl)));
  const assets = new Map<string, Buffer>([
    ...docsAssets
      .filter((name) => name !== 'start.js')
      .map((name) => [name, readFileSync(join(distFolder, name))] as const),
    ['start.js', Buffer.from(startScript)],
  ]);
  return {
    getOpenApi: async () => ({ status: 200, body: openApi }),
    showDocs: async () => ({
      status: 200,
      headers: { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': policy },
      body: docsPage,
    }),
    async getDocsAsset({ params, refuse }) {
      const name = params['asset'] ?? '';
      const body = assets.get(name);
      if (!body) throw refuse('NOT_FOUND');
      const ending = name.slice(name.lastIndexOf('.') + 1) as keyof typeof contentTypes;
      return {
        status: 200,
        headers: {
          'content-type': contentTypes[ending],
          'cache-control': 'public, max-age=3600',
        },
        body,
      };
    },
  };
};

const distFolder = dirname(fileURLToPath(import.meta.resolve('swagger-ui-dist/package.json')));

/** Swagger UI writes style attributes and has its arrows as data: images. */
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
<div id="docs"><p>The contract is shown here by a script; as a file it is <a href="openapi.json">openapi.json</a>.</p></div>
</body>
</html>
`;

/** Requests are tried where the page was opened, which its policy allows, whatever name that has. */
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
