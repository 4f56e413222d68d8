import { z } from 'zod';
import { gatewayKinds } from './gateway-account.ts';
import { tokenModes } from './token.ts';

/** The calling application. Source: service interface, section 2.1. */
export const ApplicationResponse = z
  .strictObject({
    application: z.string().meta({ description: 'Slug of the application.' }),
    status: z.literal('active').meta({
      description: 'A disabled application gets `403 APPLICATION_DISABLED` instead.',
    }),
    default_gateway: z.strictObject({ slug: z.string(), kind: z.enum(gatewayKinds) }),
    callback_urls: z
      .array(z.string())
      .min(1)
      .meta({ description: 'Registered callback URLs; the first is the default.' }),
    webhook_url: z.string().nullable(),
    token_mode: z.enum(tokenModes).meta({ description: 'The mode of the token in the request.' }),
  })
  .meta({ id: 'Application' });
export type ApplicationResponse = z.infer<typeof ApplicationResponse>;
