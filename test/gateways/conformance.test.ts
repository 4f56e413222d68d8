import { describeGateway } from './conformance.ts';
import { payping } from './subjects/payping.ts';
import { sandbox } from './subjects/sandbox.ts';
import { stripe } from './subjects/stripe.ts';
import { zarinpal } from './subjects/zarinpal.ts';
import { zibal } from './subjects/zibal.ts';

describeGateway(sandbox);
describeGateway(zarinpal);
describeGateway(zibal);
describeGateway(payping);
describeGateway(stripe);
