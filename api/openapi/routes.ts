import { z } from 'zod';
import type { Route } from '../http/route.ts';

/** The files of the docs page: of swagger-ui-dist but the last, which is ours. */
export const docsAssets = [
  'swagger-ui.css',
  'swagger-ui-bundle.js',
  'favicon-32x32.png',
  'start.js',
] as const;

export const documentRoutes = {
  getOpenApi: {
    method: 'GET',
    path: '/api/v1/openapi.json',
    access: 'anyone',
    summary: 'Get the contract',
    description: 'This OpenAPI 3.1 document. Every route of the service appears in it.',
    replies: {
      200: {
        description: 'The document.',
        content: z.looseObject({ openapi: z.string().regex(/^3\.1\./) }),
      },
    },
    errors: [],
  },
  showDocs: {
    method: 'GET',
    path: '/api/v1/docs',
    access: 'anyone',
    summary: 'Read the contract',
    description: 'A page that shows the contract and can try it. It loads nothing from elsewhere.',
    replies: {
      200: { description: 'The page.', headers: ['content-security-policy'], content: 'page' },
    },
    errors: [],
  },
  getDocsAsset: {
    method: 'GET',
    path: '/api/v1/docs/:asset',
    access: 'anyone',
    summary: 'Get a file of the docs page',
    description: "The page's own style, script and icon.",
    params: z.object({
      asset: z.enum(docsAssets).meta({ description: 'Name of the file.' }),
    }),
    replies: { 200: { description: 'The file.', content: 'asset' } },
    errors: ['NOT_FOUND'],
  },
} as const satisfies Record<string, Route>;
