import { z } from 'zod';
import type { Handler, Route } from '../http/route.ts';

export const getOpenApiRoute = {
  method: 'GET',
  path: '/api/v1/openapi.json',
  access: 'anyone',
  summary: 'Get the contract',
  description: 'This OpenAPI 3.1 document. It contains every route of the service.',
  responses: {
    200: {
      description: 'The document.',
      content: z.looseObject({ openapi: z.string().regex(/^3\.1\./) }),
    },
  },
  errors: [],
} as const satisfies Route;

/** @param document as made by `createOpenApi`, which cannot be imported here: it reads the table of routes */
export const getOpenApiHandler = (document: object): Handler<typeof getOpenApiRoute> => {
  const body = Buffer.from(JSON.stringify(document));
  return async () => ({ status: 200, body });
};
