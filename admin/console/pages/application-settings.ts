import { html } from 'hono/html';
import { languageOf, languages } from '../../../contract/languages.ts';
import { limits } from '../../../contract/limits.ts';
import { parseWholeNumber } from '../../../contract/whole-number.ts';
import { Refusal } from '../../operations/change.ts';
import type { Action } from '../actions.ts';
import { select } from '../filters.ts';
import type { Html } from '../html.ts';
import type { PersonRequest } from '../request.ts';
import {
  applicationAction,
  callbacksField,
  linesOf,
  text,
  typedOr,
  webhookUrlField,
  webhookUrlOf,
} from './application-action.ts';

const changeWebhookUrl = applicationAction({
  path: 'webhook-url',
  role: 'admin',
  isSensitive: true,
  describe: (slug) => ({
    title: `Change the webhook URL of ${slug}`,
    consequence:
      'The next attempt of every delivery goes to the new address, also of events that have ended already. With an empty address new events are not sent, and the attempts of those that wait fail.',
    button: 'Change',
    done: `The webhook URL of ${slug} was changed.`,
    fields: webhookUrlField('New webhook URL'),
  }),
  execute: async (slug, request, reason) => {
    const webhookUrl = webhookUrlOf(request);
    await request.operations.applications.update(slug, { webhookUrl }, reason);
  },
});

const budgetField = (request: PersonRequest, now: number): Html =>
  html`<label>
    Calls a minute
    <input type="number" name="budget" min="1" max="1000000" value="${typedOr(request, 'budget', String(now))}" required />
  </label>`;

const typedBudget = (request: PersonRequest): number | undefined =>
  parseWholeNumber(text(request, 'budget'), { min: 1, max: 1_000_000 });

/** @throws Refusal */
const budgetIn = (request: PersonRequest): number => {
  const budget = typedBudget(request);
  if (budget !== undefined) return budget;
  throw new Refusal('The budget is a whole number of requests a minute, from 1 to 1,000,000.');
};

const changeBudget = applicationAction({
  path: 'budget',
  role: 'admin',
  describe: async (slug, request) => {
    const { requestsPerMinute } = await request.operations.applications.get(slug);
    const budget = typedOr(request, 'budget', String(requestsPerMinute));
    const typed = { requestsPerMinute: typedBudget(request) ?? requestsPerMinute };
    return {
      title: `Change the budget of ${slug}`,
      consequence: 'The API answers 429 above this number of calls a minute.',
      button: 'Change',
      warning: await request.operations.consequences.ofSettings(slug, typed),
      done: `The budget of ${slug} is ${budget} calls a minute.`,
      fields: budgetField(request, requestsPerMinute),
    };
  },
  execute: async (slug, request, reason) => {
    const requestsPerMinute = budgetIn(request);
    await request.operations.applications.update(slug, { requestsPerMinute }, reason);
  },
});

const ordersField = (request: PersonRequest, now: boolean): Html =>
  select('One paid payment for an order', 'once', {
    choices: ['yes', 'no'],
    chosen: typedOr(request, 'once', now ? 'yes' : 'no'),
  });

const changeOrders = applicationAction({
  path: 'orders',
  role: 'admin',
  describe: async (slug, request) => {
    const { ordersPaidOnce } = await request.operations.applications.get(slug);
    return {
      title: `One paid payment for an order of ${slug}`,
      consequence:
        'Yes: of the payments with one order id at most one is paid and not given back in full, also of those that are open now. Money of a second one goes back to its payer. No: each payment is paid on its own, and two paid ones of live gateways are an alert. Payments through a sandbox with a live token take no part.',
      button: 'Change',
      done: `Orders of ${slug}: paid once is ${text(request, 'once')}.`,
      fields: ordersField(request, ordersPaidOnce),
    };
  },
  execute: async (slug, request, reason) => {
    const ordersPaidOnce = text(request, 'once') === 'yes';
    await request.operations.applications.update(slug, { ordersPaidOnce }, reason);
  },
});

const changeCallbackUrls = applicationAction({
  path: 'callback-urls',
  role: 'admin',
  isSensitive: true,
  describe: async (slug, request) => {
    const { callbackUrls } = await request.operations.applications.get(slug);
    return {
      title: `Change the callback URLs of ${slug}`,
      consequence:
        'New payments may name only these, and take the first one if they name none. Payers of open payments still return to the address that their payment has.',
      button: 'Change',
      done: `The callback URLs of ${slug} were changed.`,
      fields: callbacksField(typedOr(request, 'callbacks', callbackUrls.join('\n'))),
    };
  },
  execute: async (slug, request, reason) => {
    const callbackUrls = linesOf(request, 'callbacks');
    await request.operations.applications.update(slug, { callbackUrls }, reason);
  },
});

export const fallbacksField = (request: PersonRequest, now: readonly string[]): Html =>
  html`<label>
    Fallback gateways, one in a line, in the order of asking; empty: none
    <textarea name="fallbacks" rows="4" maxlength="300" autocomplete="off" autocapitalize="off" spellcheck="false">${typedOr(request, 'fallbacks', now.join('\n'))}</textarea>
  </label>`;

export const defaultGatewayField = async (
  { operations }: Pick<PersonRequest, 'operations'>,
  chosen: string,
): Promise<Html> => {
  const gateways = await operations.gateways.choices();
  const notes = [...gateways].flatMap(([slug, problem]) => (problem ? [[slug, problem]] : []));
  return select('Default gateway', 'gateway', {
    choices: [...gateways.keys()],
    chosen,
    notes: Object.fromEntries(notes),
  });
};

const fallbacksIn = (request: PersonRequest, now: readonly string[]): string[] =>
  request.form.has('fallbacks') ? linesOf(request, 'fallbacks') : [...now];

const changeGateway = applicationAction({
  path: 'gateway',
  role: 'admin',
  isSensitive: true,
  describe: async (slug, request) => {
    const { defaultGateway, fallbackGateways } = await request.operations.applications.get(slug);
    const chosen = typedOr(request, 'gateway', defaultGateway);
    return {
      title: `Change the gateways of ${slug}`,
      consequence:
        'New payments that name no gateway go to the default one, and so does their money. A fallback gateway gets those that the gateways before it do not open. Payments that exist stay as they are. A test token takes sandbox gateways only.',
      button: 'Change',
      warning: await request.operations.consequences.ofSettings(slug, {
        defaultGateway: chosen,
        fallbackGateways: fallbacksIn(request, fallbackGateways),
      }),
      done: `The gateways of ${slug} were changed. Its default gateway is ${chosen}.`,
      fields: html`${await defaultGatewayField(request, chosen)}
        ${fallbacksField(request, fallbackGateways)}`,
    };
  },
  execute: async (slug, request, reason) => {
    const defaultGateway = text(request, 'gateway');
    const fallbackGateways = linesOf(request, 'fallbacks');
    const settings = { defaultGateway, fallbackGateways };
    await request.operations.applications.update(slug, settings, reason);
  },
});

const changeFallbacks = applicationAction({
  path: 'fallback-gateways',
  role: 'admin',
  isSensitive: true,
  describe: async (slug, request) => {
    const { fallbackGateways } = await request.operations.applications.get(slug);
    return {
      title: `Change the fallback gateways of ${slug}`,
      consequence:
        'They are asked in this order while the gateways before them do not open a payment, and the money goes to the one that opens it. All gateways of an application are live, or all are sandboxes.',
      button: 'Change',
      warning: await request.operations.consequences.ofSettings(slug, {
        fallbackGateways: fallbacksIn(request, fallbackGateways),
      }),
      done: `The fallback gateways of ${slug} were changed.`,
      fields: fallbacksField(request, fallbackGateways),
    };
  },
  execute: async (slug, request, reason) => {
    const fallbackGateways = linesOf(request, 'fallbacks');
    await request.operations.applications.update(slug, { fallbackGateways }, reason);
  },
});

/** Kinds of events that an application gets only if an admin turns them on. */
const optionalEvents = {
  refunds: {
    setting: 'refundEvents',
    field: 'events',
    path: 'refund-events',
    on: 'an admin asks for a refund, and when a refund succeeds or fails',
    off: 'refunds that end',
  },
  disputes: {
    setting: 'disputeEvents',
    field: 'disputes',
    path: 'dispute-events',
    on: 'a dispute opens, changes or closes',
    off: 'disputes that change',
  },
} as const;
type OptionalEvents = keyof typeof optionalEvents;

const eventsField = (request: PersonRequest, of: OptionalEvents, now: boolean): Html =>
  select(`Events of ${of}`, optionalEvents[of].field, {
    choices: ['on', 'off'],
    chosen: typedOr(request, optionalEvents[of].field, now ? 'on' : 'off'),
  });

const changeEvents = (of: OptionalEvents) => {
  const { setting, field, path, on, off } = optionalEvents[of];
  return applicationAction({
    path,
    role: 'admin',
    describe: async (slug, request) => {
      const { [setting]: now, webhookUrl } = await request.operations.applications.get(slug);
      const unsent =
        webhookUrl === null
          ? ' It has no webhook URL now, so nothing is sent before it has one.'
          : '';
      const chosen = typedOr(request, field, now ? 'on' : 'off');
      return {
        title: `Events of ${of} for ${slug}`,
        consequence: `On: the receiver gets a webhook when ${on}, and it must know these events. Off: no webhook is sent about ${off} from now on.${unsent}`,
        button: 'Change',
        done: `The events of ${of} for ${slug} are ${chosen}.`,
        fields: eventsField(request, of, now),
      };
    },
    execute: async (slug, request, reason) => {
      const isOn = text(request, field) === 'on';
      await request.operations.applications.update(slug, { [setting]: isOn }, reason);
    },
  });
};

const payersFields = (
  request: PersonRequest,
  { slug = '', ...now }: { name: string; locale: string; slug?: string },
): Html =>
  html`<label>
      Name for payers; empty: that of the application
      <input name="name" maxlength="120" value="${typedOr(request, 'name', now.name)}" placeholder="${slug}" />
    </label>
    ${select('Language for payers', 'locale', {
      choices: languages,
      chosen: typedOr(request, 'locale', now.locale),
    })}`;

/** @throws Refusal */
const payersIn = (request: PersonRequest) => {
  const name = text(request, 'name');
  const locale = languageOf(text(request, 'locale'));
  if (locale === undefined) throw new Refusal(`The language is one of ${languages.join(', ')}.`);
  return { displayName: name === '' ? null : name, locale };
};

const changePayers = applicationAction({
  path: 'payers',
  role: 'admin',
  describe: async (slug, request) => {
    const { displayName, locale } = await request.operations.applications.get(slug);
    const name = typedOr(request, 'name', displayName ?? '');
    return {
      title: `What payers of ${slug} see`,
      consequence:
        'The pages of payers say whom they pay, at once; an empty name shows the slug. Stripe gets the name of new payments. A page is in the language that the browser asks for, and otherwise in this one.',
      button: 'Change',
      done: `Payers of ${slug} see ${name === '' ? slug : name}.`,
      fields: payersFields(request, { name: displayName ?? '', locale: locale ?? 'en', slug }),
    };
  },
  execute: async (slug, request, reason) => {
    await request.operations.applications.update(slug, payersIn(request), reason);
  },
});

/** The fields of the settings that a new application may leave as they are. */
export const optionalFields = (request: PersonRequest): Html =>
  html`${budgetField(request, limits.applicationRequestsPerMinute)}
    ${eventsField(request, 'refunds', false)} ${eventsField(request, 'disputes', false)}
    ${ordersField(request, true)}
    ${payersFields(request, { name: '', locale: 'en' })}`;

/** The values of these fields. @throws Refusal */
export const optionalSettings = (request: PersonRequest) => ({
  requestsPerMinute: budgetIn(request),
  refundEvents: text(request, 'events') === 'on',
  disputeEvents: text(request, 'disputes') === 'on',
  ordersPaidOnce: text(request, 'once') === 'yes',
  ...payersIn(request),
});

/** The settings of an application, in the order of its facts. */
export const applicationSettings: readonly Action[] = [
  changeGateway,
  changeFallbacks,
  changeWebhookUrl,
  changeCallbackUrls,
  changeBudget,
  changeEvents('refunds'),
  changeEvents('disputes'),
  changeOrders,
  changePayers,
];
