import { describe, expect, it } from 'vitest';
import type { Payer } from '../../../contract/payer.ts';
import { stripeLocaleOf } from '../../../gateways/stripe-locales.ts';
import { aGatewayPayment } from '../../support/gateways/fixture.ts';
import { payping } from '../../support/gateways/payping.ts';
import { aProvider } from '../../support/gateways/provider.ts';
import { sep } from '../../support/gateways/sep.ts';
import { stripe } from '../../support/gateways/stripe.ts';
import { vandar } from '../../support/gateways/vandar.ts';
import { zarinpal } from '../../support/gateways/zarinpal.ts';
import { zibal } from '../../support/gateways/zibal.ts';
import type { Call } from '../../fakes/server.ts';

const whole = {
  mobile: '+989121234567',
  email: 'ada@shop.example',
  name: 'Ada Lovelace',
  locale: 'de-AT',
} as const;

const zarinpalMetadata = ({ json }: Call) => {
  const { mobile, email } = Object(json['metadata']) as Payer;
  return { mobile, email };
};
const sepMobile = ({ json }: Call) => json['CellNumber'];
const zibalMobile = ({ json }: Call) => json['mobile'];
const vandarMobile = ({ json }: Call) => json['mobile_number'];
const paypingFields = ({ json }: Call) => [json['payerIdentity'], json['payerName']];
const stripeFields = ({ form }: Call) => [form.get('customer_email'), form.get('locale')];

const providers = {
  zarinpal: aProvider(zarinpal),
  zibal: aProvider(zibal),
  payping: aProvider(payping),
  stripe: aProvider(stripe),
  vandar: aProvider(vandar),
  sep: aProvider(sep),
};
const fixtures = { zarinpal, zibal, payping, stripe, vandar, sep };
type Name = keyof typeof providers;

const openingOf = (name: Name, payer: Payer | null) => {
  const { adapter } = providers[name];
  return adapter().open({ ...aGatewayPayment(fixtures[name].money), payer });
};

const sentBy = async (name: Name, payer: Payer | null): Promise<Call> => {
  const [call] = await providers[name].callsOf(() => openingOf(name, payer));
  if (!call) throw new Error(`${name} was not called`);
  return call;
};

describe('an opening with the data of a payer', () => {
  it.each([
    ['zarinpal', zarinpalMetadata, { mobile: '09121234567', email: whole.email }],
    ['zibal', zibalMobile, '09121234567'],
    ['payping', paypingFields, [whole.email, whole.name]],
    ['stripe', stripeFields, [whole.email, 'de']],
    ['vandar', vandarMobile, '09121234567'],
    ['sep', sepMobile, '9121234567'],
  ] as const)('sends %s what it has a place for', async (name, fieldsOf, sent) => {
    const call = await sentBy(name, whole);
    expect(fieldsOf(call)).toEqual(sent);
    const rest = [
      ...(name === 'payping' ? ['9121234567'] : ['Lovelace']),
      ...(['zibal', 'vandar', 'sep'].includes(name) ? ['ada%40', 'ada@'] : []),
      ...(name === 'stripe' ? ['9121234567'] : []),
    ];
    for (const other of rest) expect(call.text).not.toContain(other);
  });

  it.each([
    ['zarinpal', zarinpalMetadata, {}],
    ['zibal', zibalMobile, undefined],
    ['payping', paypingFields, [undefined, undefined]],
    ['vandar', vandarMobile, undefined],
    ['sep', sepMobile, undefined],
  ] as const)('sends %s no number of another country', async (name, fieldsOf, sent) => {
    expect(fieldsOf(await sentBy(name, { mobile: '+4915112345678' }))).toEqual(sent);
    expect(fieldsOf(await sentBy(name, { mobile: '+9809121234567' }))).toEqual(sent);
  });

  it('sends PayPing the mobile number of a payer without an e-mail address', async () => {
    const call = await sentBy('payping', { mobile: '09121234567' });
    expect(paypingFields(call)).toEqual(['09121234567', undefined]);
  });

  it('opens at Stripe with and without the payer in one minute, since the keys differ', async () => {
    const { adapter } = providers.stripe;
    const payment = aGatewayPayment(stripe.money);
    for (const payer of [whole, { email: whole.email }, { locale: 'fa' }, null])
      expect(await adapter().open({ ...payment, payer })).toMatchObject({ result: 'opened' });
  });
});

it.each([
  ['de', 'de'],
  ['de-AT', 'de'],
  ['pt_br', 'pt-BR'],
  ['EN-gb', 'en-GB'],
  ['fa', undefined],
  ['ar-SA', undefined],
  ['xx-YY-evil', undefined],
])('the language of Stripe for %s is %s', (tag, locale) => {
  expect(stripeLocaleOf(tag)).toBe(locale);
});

it('lets the browser choose where Stripe lacks the language', async () => {
  expect(stripeFields(await sentBy('stripe', { locale: 'fa' }))).toEqual([null, 'auto']);
});
