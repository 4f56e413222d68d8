import { expect, it } from 'vitest';
import { driverNames } from '../../../gateways/registry.ts';
import { describeGateway } from '../../support/gateways/conformance.ts';
import { mollie } from '../../support/gateways/mollie.ts';
import { payping } from '../../support/gateways/payping.ts';
import { sandbox } from '../../support/gateways/sandbox.ts';
import { sep } from '../../support/gateways/sep.ts';
import { stripe } from '../../support/gateways/stripe.ts';
import { vandar } from '../../support/gateways/vandar.ts';
import { zarinpal } from '../../support/gateways/zarinpal.ts';
import { zibal } from '../../support/gateways/zibal.ts';
import { providerNames } from '../../support/service/providers.ts';

const described = [
  describeGateway(sandbox),
  describeGateway(zarinpal),
  describeGateway(zibal),
  describeGateway(payping),
  describeGateway(stripe),
  describeGateway(vandar),
  describeGateway(mollie),
  describeGateway(sep),
];

it('has every driver', () => {
  expect(described).toEqual(driverNames);
});

it('finds every provider in the journeys', () => {
  expect(['sandbox', ...providerNames]).toEqual(driverNames);
});
