import { expect, it } from 'vitest';
import { visitOf } from '../../../../api/payer/language.ts';
import { redirectToGateway } from '../../../../api/payer/pages.ts';
import { aBrowser } from '../../../support/data/a-browser.ts';
import { elementTexts, expectPage, originOnly } from '../../../support/service/payer-page.ts';

it('redirects to a gateway that needs POST by a form that submits itself, with a button', async () => {
  const page = await redirectToGateway(visitOf(aBrowser()), {
    method: 'POST',
    url: 'http://127.0.0.1:9/pay?x="><script>',
    fields: { token: '"><script>alert(1)</script>' },
  });
  const headers = new Headers({
    // The headers that the server adds to every response.
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    ...page.headers,
  });
  const text = String(page.body);
  expectPage({ headers, text: text.replaceAll('&quot;', '') }, originOnly);
  expect(elementTexts(text, 'script')).toHaveLength(1);
  expect(text).toMatch(/<button[^>]*>\s*Continue/);
  expect(headers.get('content-security-policy')).toContain(
    'form-action http://127.0.0.1:9 https:;',
  );
});
