import { expect, it } from 'vitest';
import { visitOf } from '../../../../api/payer/language.ts';
import { redirectToGateway } from '../../../../api/payer/pages.ts';
import { aBrowser } from '../../../support/data/a-browser.ts';
import { elementTexts, originOnly } from '../../../support/service/payer-page.ts';

it('redirects to a gateway that needs POST by a form that submits itself, with a button', async () => {
  const page = await redirectToGateway(visitOf(aBrowser()), {
    method: 'POST',
    url: 'http://127.0.0.1:9/pay?x="><script>',
    fields: { token: '"><script>alert(1)</script>' },
  });
  const text = String(page.body);
  expect(text.match(/<script/g)).toHaveLength(1);
  expect(elementTexts(text, 'script')).toEqual([expect.stringContaining('submit')]);
  expect(text).toMatch(/<button[^>]*>\s*Continue/);
  expect(page.headers?.['referrer-policy']).toBe(originOnly);
  const policy = page.headers?.['content-security-policy'];
  expect(policy).toContain('form-action http://127.0.0.1:9 https:;');
  expect(policy).not.toContain('unsafe');
});
