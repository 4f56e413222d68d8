import { html } from 'hono/html';
import { defaultTokenScopes, tokenScopes, type TokenScope } from '../../../contract/token.ts';
import { dayMs } from '../../../contract/time.ts';
import { NotFound, Refusal } from '../../operations/change.ts';
import { isSamePerson } from '../../operations/confirmation.ts';
import { byLabel, pick } from '../../operations/fact.ts';
import { reservedText, tokenFacts, tokenWaits } from '../../operations/facts.ts';
import type { TokenSummary } from '../../../postgres/admin/tokens.ts';
import { type Action, secretPage } from '../actions.ts';
import { select } from '../filters.ts';
import { action, type Html, type Row } from '../html.ts';
import { modeName } from '../mode.ts';
import { ofSlug } from '../owner.ts';
import type { PersonRequest } from '../request.ts';
import { applicationAction, pathOf, text, typedOr } from './application-action.ts';
import { newApplicationFields, newApplicationSettings } from './application-settings.ts';
import { testResult } from './webhook-result.ts';

const expiries = { never: null, '30 days': 30, '90 days': 90, '1 year': 365 } as const;
const expiryNames = Object.keys(expiries) as (keyof typeof expiries)[]; // Object.keys widens to string.

const newApplication: Action = {
  path: '/create-application',
  role: 'admin',
  isSensitive: true,
  confirm: async (request) => {
    return {
      title: 'Create an application',
      consequence:
        'It gets its first webhook secret, which is shown once. It can call the API as soon as you issue a token for it. An application cannot be deleted, only disabled.',
      button: 'Create',
      facts: {},
      done: 'The application was created.',
      back: '/applications',
      fields: html`<label>
          Name, of lower-case letters, digits and hyphens
          <input
            name="slug"
            maxlength="50"
            pattern="[a-z0-9]([a-z0-9\\-]*[a-z0-9])?"
            placeholder="book-shop"
            title="Lower-case letters, digits and hyphens, like book-shop. Payers see the display name."
            value="${text(request, 'slug')}"
            autocomplete="off"
            spellcheck="false"
            required
          />
        </label>
        ${await newApplicationFields(request)}`,
    };
  },
  execute: async (request, reason) => {
    const { application, secret } = await request.operations.applications.create(
      { slug: text(request, 'slug'), ...newApplicationSettings(request) },
      reason,
    );
    const { slug } = application;
    const next = action(`${pathOf(slug)}/tokens/issue`, 'Issue its first token');
    return secretPage(`The new application ${slug}`, 'Webhook secret', secret, pathOf(slug), next);
  },
};

const testWebhook = applicationAction({
  path: 'test-webhook',
  role: 'operator',
  owner: ofSlug,
  describe: (slug) => ({
    title: `Test the webhook of ${slug}`,
    consequence:
      'A worker sends one signed event of a payment that does not exist to the webhook URL. It says “test”, its order is “webhook-test”. You see what the receiver answers.',
    button: 'Send',
    done: 'The test was sent.',
    isHarmless: true,
  }),
  execute: async (slug, request, reason) =>
    testResult(slug, request, await request.operations.testWebhook(slug, reason || null)),
});

const reservedNow = async (
  slug: string,
  by: 'any' | 'application',
  { operations }: PersonRequest,
): Promise<string> => {
  const reserved = await operations.refunds.sumReserved(slug, by);
  return reserved.length === 0 ? 'There is none now.' : `Now: ${reservedText(reserved)}.`;
};

const webhooksNow = async (slug: string, { operations }: PersonRequest): Promise<string> =>
  (await operations.applications.get(slug)).webhookUrl === null
    ? ''
    : ', and their webhooks are still delivered';

const disable = applicationAction({
  path: 'disable',
  role: 'admin',
  isSensitive: true,
  describe: async (slug, request) => ({
    title: `Disable the application ${slug}`,
    consequence: `The API refuses the next call of every token of this application. Open payments go on${await webhooksNow(slug, request)}. Refunds that it has asked for and that no gateway was told of wait until you enable it again; call them off if a token has leaked. ${await reservedNow(slug, 'application', request)}`,
    button: 'Disable',
    isDangerous: true,
    warning: await request.operations.consequences.ofSettings(slug, { status: 'disabled' }),
    done: `The application ${slug} is disabled. Its refunds that no gateway was told of wait.`,
  }),
  execute: async (slug, { operations }, reason) => {
    await operations.applications.setStatus(slug, 'disabled', reason);
  },
});

const cancelRefunds = applicationAction({
  path: 'cancel-refunds',
  role: 'admin',
  isSensitive: true,
  describe: async (slug, request) => ({
    title: `Call the refunds of ${slug} off`,
    consequence: `Every refund of this application that no gateway was told of ends as failed, whoever asked for it, and its amount can be refunded again. ${await reservedNow(slug, 'any', request)} What a gateway was told goes on.`,
    button: 'Call off',
    isDangerous: true,
    done: `The refunds of ${slug} that no gateway was told of were called off.`,
  }),
  execute: async (slug, { operations }, reason) => {
    const cancelled = await operations.refunds.cancelOf(slug, reason);
    if (cancelled.length === 0)
      throw new Refusal(`${slug} has no refund that no gateway was told of.`);
  },
});

const enable = applicationAction({
  path: 'enable',
  role: 'admin',
  describe: async (slug, request) => ({
    title: `Enable the application ${slug}`,
    consequence: `The API accepts the calls of this application’s tokens again. Refunds that waited go on. ${await reservedNow(slug, 'application', request)}`,
    button: 'Enable',
    warning: await request.operations.consequences.ofSettings(slug, { status: 'active' }),
    done: `The application ${slug} is enabled.`,
  }),
  execute: async (slug, { operations }, reason) => {
    await operations.applications.setStatus(slug, 'active', reason);
  },
});

const scopeTexts: Record<TokenScope, string> = {
  read: 'read everything of this application and mode',
  create: 'create and verify payments',
  replay: 'have events sent again, and samples',
  refund: 'give money back',
  link: 'make links that anybody can pay',
};

const chosenScopes = ({ form }: PersonRequest): readonly TokenScope[] => {
  const chosen = form.getAll('scope');
  return tokenScopes.filter((scope) => chosen.includes(scope));
};

const scopeField = (request: PersonRequest): Html => {
  // The first time the usual ones are checked. After that an empty choice is one.
  const checked = request.form.has('name') ? chosenScopes(request) : defaultTokenScopes;
  return html`<fieldset>
    <legend>Scopes</legend>
    ${tokenScopes.map(
      (scope) =>
        html`<label class="choice">
          <input type="checkbox" name="scope" value="${scope}" ${checked.includes(scope) ? html`checked` : ''} />
          <span>${scope}: ${scopeTexts[scope]}</span>
        </label>`,
    )}
  </fieldset>`;
};

const waitsForConfirmation = '; nobody can use it until another admin confirms it';

const issueToken = applicationAction({
  path: 'tokens/issue',
  role: 'admin',
  isSensitive: true,
  describe: (slug, request) => ({
    title: `Issue a token for ${slug}`,
    consequence:
      'Whoever holds the token may do what you choose for this application. Only a token with the scope refund gives money back: where refunds of admins need a second admin, so does it.',
    button: 'Issue',
    done: 'The token was issued.',
    fields: html`<label>
        Name
        <input name="name" maxlength="100" value="${text(request, 'name')}" required />
      </label>
      ${select('Mode', 'mode', { choices: ['test', 'live'], chosen: typedOr(request, 'mode', modeName(request.test)) })}
      ${scopeField(request)}
      ${select('Expires after', 'expires', { choices: expiryNames, chosen: text(request, 'expires') || 'never' })}`,
  }),
  execute: async (slug, request, reason) => {
    const mode = text(request, 'mode') === 'live' ? 'live' : 'test';
    const days = expiries[expiryNames.find((name) => name === text(request, 'expires')) ?? 'never'];
    const scopes = chosenScopes(request);
    if (scopes.length === 0) throw new Refusal('The token needs a scope.');
    const { token, toConfirm } = await request.operations.tokens.issue(
      {
        application: slug,
        mode,
        scopes,
        name: text(request, 'name'),
        expiresAt: days === null ? null : new Date(Date.now() + days * dayMs),
      },
      reason,
    );
    const title = `Token of ${slug} (${mode})${toConfirm ? waitsForConfirmation : ''}`;
    return secretPage('The new token', title, token, pathOf(slug));
  },
});

const refundsGoOn = ({ scopes }: TokenSummary): string =>
  scopes.includes('refund') ? ' Refunds that it has asked for do not stop.' : '';

/** The token that is to end. */
const tokenCells = (token: TokenSummary): Row => {
  const facts = pick(
    tokenFacts(token),
    'prefix',
    'mode',
    'scopes',
    'issued',
    'lastUsed',
    'expires',
  );
  return { Token: token.name, ...byLabel(facts, { lastUsed: token.lastUsedAt ?? 'never' }) };
};

/** The days for which the old token works. */
const oldEnds = { 'at once': 0, 'in 1 day': 1, 'in 7 days': 7 } as const;
const oldEndNames = Object.keys(oldEnds) as (keyof typeof oldEnds)[]; // Object.keys widens to string.

const chosenEnd = (request: PersonRequest) =>
  oldEndNames.find((name) => name === text(request, 'ends')) ?? 'in 7 days';

const replaceToken = applicationAction({
  path: 'tokens/:token/replace',
  role: 'admin',
  isSensitive: true,
  describe: async (slug, request) => {
    const token = await request.operations.tokens.get(slug, request.params.token);
    const { name } = token;
    const waits = await request.operations.consequences.ofReplacing(slug, token.id);
    return {
      title: `Replace the token “${name}” of ${slug}`,
      consequence: `A new token with the same mode, scopes, name and lifetime is shown once. The old one works until it ends; then whatever still uses it stops working.${waits === null ? '' : ` ${waits}`}${refundsGoOn(token)}`,
      button: 'Replace',
      typedName: name,
      done: `The token “${name}” was replaced.`,
      facts: tokenCells(token),
      fields: select('The old token ends', 'ends', {
        choices: oldEndNames,
        chosen: chosenEnd(request),
      }),
    };
  },
  execute: async (slug, request, reason) => {
    const ends = chosenEnd(request);
    const { token, mode, toConfirm, expiresAt } = await request.operations.tokens.replace(
      { application: slug, id: request.params.token, keepDays: oldEnds[ends] },
      reason,
    );
    const life = expiresAt === null ? '' : `; it expires on ${request.formatTime(expiresAt)}`;
    const title = `Token of ${slug} (${mode})${toConfirm ? waitsForConfirmation : ''}${life}; the old one ends ${ends}`;
    return secretPage('The new token', title, token, pathOf(slug));
  },
});

const confirmToken = applicationAction({
  path: 'tokens/:token/confirm',
  role: 'admin',
  isSensitive: true,
  describe: async (slug, { operations, session, params: { token: id } }) => {
    const token = await operations.tokens.get(slug, id);
    const { name, issuedBy } = token;
    if (!token.toConfirm) throw new Refusal('The token does not wait for a second admin.');
    if (issuedBy !== null && isSamePerson(issuedBy, session.name))
      throw new Refusal('You have issued this token yourself. Another admin must confirm it.');
    return {
      title: `Confirm the token “${name}” of ${slug}`,
      consequence: `Whoever has it can give the money of this application’s payments back. ${tokenWaits}`,
      button: 'Confirm',
      done: `The token “${name}” was confirmed.`,
      facts: {
        Token: name,
        ...byLabel(
          pick(tokenFacts(token), 'prefix', 'mode', 'scopes', 'expires', 'issued', 'issuedBy'),
        ),
      },
    };
  },
  execute: async (slug, { operations, params: { token: id } }, reason) => {
    await operations.tokens.confirm({ application: slug, id }, reason);
  },
});

const revokeToken = applicationAction({
  path: 'tokens/:token/revoke',
  role: 'admin',
  isSensitive: true,
  describe: async (slug, { operations, params: { token: id } }) => {
    const token = await operations.tokens.get(slug, id);
    const { name } = token;
    return {
      title: `Revoke the token “${name}” of ${slug}`,
      consequence: `The API refuses the next call with it. Whatever still uses it stops working.${refundsGoOn(token)}`,
      button: 'Revoke',
      warning: await operations.consequences.ofRevoking(slug, id),
      typedName: name,
      done: `The token “${name}” was revoked.`,
      facts: tokenCells(token),
    };
  },
  execute: async (slug, { operations, params: { token: id } }, reason) => {
    await operations.tokens.revoke({ application: slug, id }, reason);
  },
});

const rotateSecret = applicationAction({
  path: 'secrets/rotate',
  role: 'admin',
  isSensitive: true,
  describe: (slug) => ({
    title: `Rotate the webhook secret of ${slug}`,
    consequence:
      'Every webhook is signed with the new secret from now on, and with the old one for 24 hours beside it. Hand the new one over before that.',
    button: 'Rotate',
    done: 'The secret was rotated.',
  }),
  execute: async (slug, { operations }, reason) => {
    const secret = await operations.secrets.rotate(slug, reason);
    return secretPage('The new webhook secret', `Secret of ${slug}`, secret, pathOf(slug));
  },
});

const retireSecret = applicationAction({
  path: 'secrets/:secret/retire',
  role: 'admin',
  isSensitive: true,
  describe: async (slug, { operations, params }) => {
    const secrets = await operations.secrets.list(slug);
    const secret = secrets.find(({ id }) => String(id) === params.secret);
    if (!secret) throw new NotFound(`The application ${slug} has no such secret.`);
    return {
      title: `Retire the webhook secret ${secret.id} of ${slug}`,
      consequence:
        'The next attempt is not signed with it. A receiver that knows no other secret refuses it.',
      button: 'Retire',
      typedName: `secret ${secret.id}`,
      done: `The webhook secret ${secret.id} was retired.`,
      facts: {
        Secret:
          secret === secrets[0] && secrets.length > 1 ? 'the newer one of two' : 'the older one',
        'Secret issued': secret.createdAt,
        'Secret retires': secret.retiresAt,
      },
    };
  },
  execute: async (slug, { operations, params }, reason) => {
    await operations.secrets.retire({ application: slug, id: Number(params.secret) }, reason);
  },
});

/** The changes of applications, their tokens and their webhook secrets. */
export const applicationActions: readonly Action[] = [
  newApplication,
  testWebhook,
  disable,
  cancelRefunds,
  enable,
  issueToken,
  replaceToken,
  confirmToken,
  revokeToken,
  rotateSecret,
  retireSecret,
];
