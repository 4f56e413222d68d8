import { ApplicationResponse } from '../../contract/responses.ts';
import type { Route } from '../http/route.ts';
import { applicationExample } from '../openapi/examples.ts';

export const applicationRoutes = {
  getApplication: {
    method: 'GET',
    path: '/api/v1/me',
    access: 'application',
    summary: 'Identify the calling application',
    description: 'What the service knows of the application whose token was sent; no secret.',
    replies: {
      200: {
        description: 'The application.',
        content: ApplicationResponse,
        examples: { application: applicationExample },
      },
    },
    errors: [],
  },
} as const satisfies Record<string, Route>;
