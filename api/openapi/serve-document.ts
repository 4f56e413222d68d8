import { z } from 'zod';
import type { Handler, RouteSpec } from '../http/route.ts';

export const getOpenApiRoute = {
  summary: 'Get the contract',
  description: 'This OpenAPI 3.1 document. It contains every route of the service.',
  responses: {
    200: {
      description: 'The document.',
      content: z.looseObject({ openapi: z.string().regex(/^3\.1\./) }),
    },
  },
  errors: [],
} as const satisfies RouteSpec;

/** @param openApi as made by `createOpenApi`, which cannot be imported here: it reads the table of routes */
export const getOpenApiHandler = ({
  openApi,
}: {
  openApi: object;
}): Handler<'anyone', typeof getOpenApiRoute> => {
  const body = Buffer.from(JSON.stringify(openApi));
  return async () => ({ status: 200, body });
};
