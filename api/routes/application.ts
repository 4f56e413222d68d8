import { ApplicationAnswer } from '../../contract/answers.ts';
import type { Route } from '../route.ts';
import { applicationExample } from './examples.ts';

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
        content: ApplicationAnswer,
        examples: { application: applicationExample },
      },
    },
    errors: [],
  },
} as const satisfies Record<string, Route>;
