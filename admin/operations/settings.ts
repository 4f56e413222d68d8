import {
  createSecretBox,
  type KeyRing,
  type ResealedSetting,
} from '../../postgres/secrets/secret-box.ts';
import { createResolver } from '../../webhooks/resolver.ts';
import { Refusal } from './change.ts';
import type { Deps } from './deps.ts';

/** The settings that the command line and the console share. */
export interface Settings {
  SECRETS_KEY?: KeyRing | undefined;
  WEBHOOKS_KEY?: KeyRing | undefined;
  NOTIFICATIONS_KEY?: KeyRing | undefined;
  ALLOW_LOOPBACK_TARGETS: boolean;
  TEMPORAL_UI_URL?: string | undefined;
  CONSOLE_BASE_URL: string;
  PUBLIC_BASE_URL?: string | undefined;
  SMTP_HOST?: string | undefined;
  temporal: { namespace: string };
}

/** The collaborators that follow from the settings. */
export const depsOf = (settings: Settings) => {
  const { TEMPORAL_UI_URL: uiUrl, temporal } = settings;
  const boxOf = (setting: ResealedSetting, secrets: string) => () => {
    const keyRing = settings[setting];
    if (keyRing) return createSecretBox(keyRing, setting);
    throw new Refusal(`${setting} is missing: it encrypts the ${secrets}.`);
  };
  return {
    targetRule: { allowLoopback: settings.ALLOW_LOOPBACK_TARGETS },
    resolve: createResolver(),
    secretBox: boxOf('SECRETS_KEY', 'credentials of gateways'),
    webhookBox: boxOf('WEBHOOKS_KEY', 'webhook secrets'),
    notificationBox: boxOf('NOTIFICATIONS_KEY', 'notification secrets'),
    workflowUrl: (id) =>
      uiUrl ? `${uiUrl}/namespaces/${temporal.namespace}/workflows/${id}` : null,
    consoleUrl: settings.CONSOLE_BASE_URL,
    publicBaseUrl: settings.PUBLIC_BASE_URL ?? null,
    sendsMail: settings.SMTP_HOST !== undefined,
    now: () => new Date(),
  } satisfies Partial<Deps>;
};
