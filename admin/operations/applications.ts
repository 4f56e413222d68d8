import { isLocalhost } from '../../contract/localhost.ts';
import { slugPattern } from '../../contract/ids.ts';
import { createAdminEvents } from '../../postgres/admin/events.ts';
import { createAdminRefunds } from '../../postgres/admin/refunds.ts';
import type {
  Application,
  ApplicationSettings,
  NewApplication,
} from '../../postgres/applications/applications.ts';
import { createApplications } from '../../postgres/applications/applications.ts';
import type { AuditFacts } from '../../postgres/audit-log.ts';
import { everyDelivery } from '../../postgres/webhooks/delivery-filter.ts';
import type { Queries, Sql } from '../../postgres/driver/sql.ts';
import { createReceivers, type ReceiverHealth } from '../../postgres/webhooks/receivers.ts';
import { createWebhookSecrets } from '../../postgres/secrets/webhook-secrets.ts';
import type { TargetRule } from '../../webhooks/address.ts';
import { hostOf, isAddress, isAllowedAddress, webhookUrlProblem } from '../../webhooks/address.ts';
import { checkGateways } from './application-gateways.ts';
import type { Settings } from './application-setting.ts';
import { auditedSettings, newSettings, problemOfSettings } from './application-settings.ts';
import { NotFound, Refusal } from './change.ts';
import type { Deps } from './deps.ts';
import type { labels } from './labels.ts';

/** The health of a receiver, as people see it: `ok` says no more than that too little has failed to judge by. */
export interface ShownReceiver extends ReceiverHealth {
  shown: keyof (typeof labels)['receiver'];
}

/** @throws Refusal */
export const checkSlug = (slug: string): void => {
  if (!slugPattern.test(slug))
    throw new Refusal(
      `"${slug}" is not a slug: use 1 to 50 lower-case letters, digits and hyphens, with no hyphen at the ends.`,
    );
};

const noApplication = (slug: string) => new NotFound(`There is no application "${slug}".`);

/** Locks the row until the transaction ends. @throws Refusal if there is no such application */
export const lockApplication = async (tx: Queries, slug: string): Promise<Application> => {
  const application = await createApplications(tx).lock(slug);
  if (application) return application;
  throw noApplication(slug);
};

/** @throws Refusal, so that a mistyped name does not look like an application without data */
export const findApplication = async (sql: Sql, slug: string): Promise<Application> => {
  const application = await createApplications(sql).get(slug);
  if (application) return application;
  throw noApplication(slug);
};

const toAuditFacts = (application: Application): AuditFacts => ({
  status: application.status,
  ...auditedSettings(application),
});

/** @throws Refusal */
const checkSettings = (settings: Partial<ApplicationSettings>): void => {
  const problem = problemOfSettings(settings);
  if (problem !== undefined) throw new Refusal(problem);
};

export const createApplicationOperations = ({
  sql,
  change,
  targetRule,
  resolve,
  webhookBox,
}: Pick<Deps, 'sql' | 'change' | 'targetRule' | 'resolve' | 'webhookBox'>) => {
  const checkUrls = async ({
    callbackUrls,
    webhookUrl,
  }: Partial<Pick<NewApplication, 'callbackUrls' | 'webhookUrl'>>) => {
    for (const url of callbackUrls ?? []) {
      const problem = callbackUrlProblem(url, targetRule);
      if (problem) throw new Refusal(`The callback URL ${url} ${problem}.`);
    }
    // An empty text is an invalid URL, not a missing one.
    if (webhookUrl === undefined || webhookUrl === null) return;
    const problem = webhookUrlProblem(webhookUrl, targetRule);
    // Not the URL: its query may be a key.
    if (problem) throw new Refusal(`The webhook URL ${problem}.`);
    await checkHost(hostOf(new URL(webhookUrl).hostname));
  };

  const checkHost = async (host: string) => {
    if (isAddress(host) || isLocalhost(host)) return;
    // A name without an address is accepted. Every attempt checks the addresses again.
    const addresses = await resolve(host).catch((): string[] => []);
    if (addresses.some((address) => !isAllowedAddress(address, targetRule)))
      throw new Refusal('The host of the webhook URL has a private, reserved or internal address.');
  };

  return {
    /** @returns the application with its first webhook secret, which cannot be read again */
    async create(
      application: NewApplication,
      reason: string | null,
    ): Promise<{ application: Application; secret: string }> {
      const { slug } = application;
      checkSlug(slug);
      checkSettings(application);
      await checkUrls(application);
      const box = webhookBox();
      const subject = `application:${slug}`;
      return change({ action: 'application.create', subject, reason }, async (tx) => {
        await checkGateways(tx, application, null);
        const isNew = await createApplications(tx).insert({ ...newSettings, ...application });
        if (!isNew) throw new Refusal(`The application "${slug}" already exists.`);
        const created = await lockApplication(tx, slug);
        const secret = await createWebhookSecrets(tx).issue(slug, box);
        const result = { application: created, secret };
        return { result, before: null, after: toAuditFacts(created) };
      });
    },

    get: (slug: string): Promise<Application> => findApplication(sql, slug),

    exists: async (slug: string): Promise<boolean> =>
      (await createApplications(sql).get(slug)) !== undefined,

    /** The health of its receiver in a mode. @throws NotFound */
    async receiver(slug: string, test: boolean): Promise<ShownReceiver> {
      const health = await createReceivers(sql).get(slug, test);
      if (!health) throw noApplication(slug);
      if (health.state !== 'ok') return { ...health, shown: health.state ?? 'none' };
      const failing = { ...everyDelivery, application: slug, test, delivery: 'failing' } as const;
      const [failed] = await createAdminEvents(sql).list(failing, { after: null, limit: 1 });
      if (failed) return { ...health, shown: 'doubtful', lastError: failed.errorClass };
      return { ...health, shown: health.lastAcceptedAt === null ? 'unproven' : 'ok' };
    },

    list: (limit: number): Promise<Application[]> => createApplications(sql).list(limit),

    /** The next attempt uses a new webhook URL. */
    async update(
      slug: string,
      settings: Partial<Settings>,
      reason: string | null,
    ): Promise<Application> {
      await checkUrls(settings);
      checkSettings(settings);
      const subject = `application:${slug}`;
      return change({ action: 'application.update', subject, reason }, (tx) =>
        write(tx, slug, settings),
      );
    },

    /**
     * The API rejects the next call of a disabled application. Its webhooks are still delivered, and its refunds that no
     * gateway was told of wait until it is enabled again.
     */
    async setStatus(
      slug: string,
      status: Application['status'],
      reason: string | null,
    ): Promise<Application> {
      const action = status === 'active' ? 'application.enable' : 'application.disable';
      return change({ action, subject: `application:${slug}`, reason }, async (tx) => {
        const written = await write(tx, slug, { status });
        if (status === 'active') await createAdminRefunds(tx).resume(slug);
        return written;
      });
    },
  };
};

const write = async (tx: Queries, slug: string, settings: Partial<ApplicationSettings>) => {
  const before = await lockApplication(tx, slug);
  const after = { ...before, ...settings };
  if (JSON.stringify(after) === JSON.stringify(before))
    throw new Refusal(`The application "${slug}" already has these settings.`);
  const { defaultGateway, fallbackGateways, allowedGateways } = settings;
  if ([defaultGateway, fallbackGateways, allowedGateways].some((each) => each !== undefined))
    await checkGateways(tx, after, before);
  await createApplications(tx).update(slug, after);
  return { result: after, before: toAuditFacts(before), after: toAuditFacts(after) };
};

/** Checks the form only: the payer's browser opens the URL, not the service. */
const callbackUrlProblem = (text: string, { allowLoopback }: TargetRule): string | undefined => {
  const url = URL.parse(text);
  if (!url || /\s/.test(text)) return 'is not a URL';
  if (url.username !== '' || url.password !== '') return 'must not hold a user name or password';
  if (url.protocol === 'https:') return undefined;
  if (url.protocol === 'http:' && allowLoopback) return undefined;
  return 'must be an https URL';
};
