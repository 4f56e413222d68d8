import { html } from 'hono/html';
import type { Name } from '../../operations/application-setting.ts';
import { settings } from '../../operations/application-settings.ts';
import { isSamePerson } from '../../operations/confirmation.ts';
import { byLabel, pick } from '../../operations/fact.ts';
import { applicationFacts, tokenFacts, tokenWaits } from '../../operations/facts.ts';
import type { TokenState } from '../../operations/labels.ts';
import { hideQuery } from '../../operations/webhook-url.ts';
import type { TokenSummary } from '../../../postgres/admin/tokens.ts';
import type { Application } from '../../../postgres/applications/applications.ts';
import type { WebhookSecret } from '../../../postgres/secrets/webhook-secrets.ts';
import { pageLinks } from '../filters.ts';
import { action, changeable, codedState, cut, type Html, link, type Row } from '../html.ts';
import { ofSlug } from '../owner.ts';
import { modeName } from '../mode.ts';
import type { Query } from '../query.ts';
import type { ConsoleResponse, Deps, PersonRequest, Route } from '../request.ts';
import { page } from '../request.ts';
import { limitsText } from './refund-rules.ts';
import { noticesPart } from './notices.ts';
import { receiverPart } from './receiver.ts';

const listMax = 500;
const tokensMax = 50;

const rowOf = (application: Application): Row => ({
  Application: link(`/applications/${application.slug}`, application.slug),
  Status: codedState('application', application.status),
  'Default gateway': application.defaultGateway,
  'Webhook URL': application.webhookUrl === null ? null : hideQuery(application.webhookUrl),
  'Requests a minute': application.requestsPerMinute,
  Created: application.createdAt,
});

/** The facts, each setting with a link to change it. */
const settingFacts = (application: Application, { isAdmin }: { isAdmin: boolean }): Row => {
  const facts = applicationFacts(application);
  const status = codedState('application', application.status);
  if (!isAdmin) return byLabel(facts, { status });
  const links = settings.map(({ name, label, path }) => {
    const { value } = facts[name];
    return [name, changeable(value, `/applications/${application.slug}/${path}`, label)];
  });
  const all = Object.fromEntries(links) as Record<Name, Html>; // Object.fromEntries forgets the names.
  return byLabel(facts, { status, ...all });
};

const readTokenId = (query: Query): string | null =>
  query.read('after', (id) => (/^[0-9a-f]{16}$/.test(id) ? id : null));

const stateOf = (token: TokenSummary, now: Date): TokenState => {
  if (token.revokedAt) return 'revoked';
  if (token.toConfirm) return 'to_confirm';
  return token.expiresAt && token.expiresAt <= now ? 'expired' : 'valid';
};

export const applicationRoutes = (deps: Deps): Route[] => {
  const list = async ({ session, operations, cells }: PersonRequest): Promise<ConsoleResponse> => {
    const own = session.applications;
    const found = own
      ? await Promise.all(own.map((slug) => operations.applications.get(slug)))
      : await operations.applications.list(listMax + 1);
    return page(
      'Applications',
      html`${cells.table({
        caption: 'Applications',
        rows: found.slice(0, listMax).map(rowOf),
        ifEmpty:
          session.role === 'admin'
            ? 'There is no application yet. Create the first one.'
            : 'There is no application yet. An admin creates one.',
      })}
      ${session.role === 'admin' ? html`<div class="actions">${action('/create-application', 'Create an application')}</div>` : ''}
      ${found.length > listMax ? html`<p>There are more. Search for one by its name.</p>` : ''}`,
    );
  };

  const show = async (request: PersonRequest): Promise<ConsoleResponse> => {
    const { session, operations, cells, params, query, test } = request;
    const mode = modeName(test);
    const slug = params.slug;
    const application = await operations.applications.get(slug);
    const [receiver, notices, tokens, secrets, reserved, limits] = await Promise.all([
      receiverPart(deps, slug, request),
      noticesPart(slug, request),
      operations.tokens.list(slug, tokensMax + 1, { after: readTokenId(query), mode }),
      operations.secrets.list(slug),
      operations.refunds.sumReserved(slug, 'any'),
      operations.refunds.limitsOf(slug),
    ]);
    const isAdmin = session.role === 'admin';
    const at = `/applications/${slug}`;
    const tokenRow = (token: TokenSummary): Row => {
      const status = stateOf(token, deps.now());
      const mayRevoke = isAdmin && (status === 'valid' || token.toConfirm) && !token.revokedAt;
      const facts = tokenFacts(token);
      const isOwn = token.issuedBy !== null && isSamePerson(token.issuedBy, session.name);
      return {
        Id: html`<code class="id">${token.id}</code>`,
        ...byLabel(pick(facts, 'prefix', 'name', 'mode', 'scopes')),
        Name: cut(token.name),
        Status: codedState('token', status),
        ...byLabel(pick(facts, 'issued', 'lastUsed', 'expires')),
        Action: mayRevoke
          ? html`${token.toConfirm && !isOwn ? action(`${at}/tokens/${token.id}/confirm`, 'Confirm') : ''}
            ${token.toConfirm ? '' : action(`${at}/tokens/${token.id}/replace`, 'Replace')}
            ${action(`${at}/tokens/${token.id}/revoke`, 'Revoke')}`
          : null,
      };
    };
    const mayRetire = isAdmin && secrets.length > 1;
    const secretRow = (secret: WebhookSecret): Row => ({
      Number: secret.id,
      Issued: secret.createdAt,
      Retires: secret.retiresAt,
      Action: mayRetire ? action(`${at}/secrets/${secret.id}/retire`, 'Retire') : null,
    });
    return page(
      `Application ${slug}`,
      html`${cells.facts({
        ...settingFacts(application, { isAdmin }),
        'Refunds in a day': isAdmin
          ? changeable(limitsText(limits), `${at}/refund-limit`, 'refunds in a day')
          : limitsText(limits),
      })}
      <p class="links">
        ${link(`/payments?application=${slug}`, 'Payments')} ${link(`${at}/events`, 'Events')}
        ${link(`${at}/requests`, 'Refused requests')}
        ${link(`/deliveries?application=${slug}`, 'Undelivered webhooks')}
        ${session.applications === null ? link(`/audit?subject=application:${slug}`, 'Audit') : ''}
      </p>
      <div class="actions">
        ${
          session.role !== 'viewer' && application.webhookUrl !== null
            ? action(`${at}/test-webhook`, 'Test the webhook')
            : ''
        }
        ${
          isAdmin
            ? html`${
                application.status === 'active'
                  ? action(`${at}/disable`, 'Disable')
                  : action(`${at}/enable`, 'Enable')
              }
              ${reserved.length > 0 ? action(`${at}/cancel-refunds`, 'Call its refunds off') : ''}`
            : ''
        }
      </div>
      <h2>Receiver</h2>
      ${receiver}
      <h2>Notices</h2>
      ${notices}
      <h2>Tokens</h2>
      ${cells.table({
        caption: 'Tokens',
        rows: tokens.slice(0, tokensMax).map(tokenRow),
        ifEmpty: `The application has no ${mode} token.`,
      })}
      ${tokens.some((token) => stateOf(token, deps.now()) === 'to_confirm') ? html`<p class="soft">${tokenWaits}</p>` : ''}
      ${pageLinks(at, query, tokens.length > tokensMax ? (tokens[tokensMax - 1]?.id ?? null) : null)}
      <div class="actions">${isAdmin ? action(`${at}/tokens/issue`, 'Issue a token') : ''}</div>
      <h2>Webhook secrets</h2>
      ${cells.table({
        caption: 'Webhook secrets',
        rows: secrets.map(secretRow),
        ifEmpty: 'There is no secret: webhooks cannot be signed.',
      })}
      <div class="actions">${isAdmin ? action(`${at}/secrets/rotate`, 'Rotate the secret') : ''}</div>`,
    );
  };

  return [
    { method: 'GET', path: '/applications', role: 'viewer', owner: 'person', handle: list },
    { method: 'GET', path: '/applications/:slug', role: 'viewer', owner: ofSlug, handle: show },
  ];
};
