import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { html } from 'hono/html';
import { speak } from '../api/payer/texts.ts';
import { styleElement, styleHash } from '../api/payer/html-page.ts';
import { languages } from '../contract/languages.ts';

/*
 * Writes the proxy's page for payers while no API process answers. The proxy knows no language, so the page has all.
 *
 *   node tools/proxy-page.ts
 */

/** Beside the Caddyfile. */
export const proxyPageFile = 'deploy/proxy/unavailable.html';

export const proxyPage = async (): Promise<string> =>
  String(
    await html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8" />
<meta name="viewport" content="width=device-width, initial-scale=1" />
<meta name="robots" content="noindex" />
<meta http-equiv="content-security-policy" content="default-src 'none'; style-src ${styleHash}; base-uri 'none'; form-action 'none'" />
<title>${speak('en')('error_title')}</title>
${styleElement}
</head>
<body>
<main>
${languages.map((language) => {
  const text = speak(language);
  return html`<section lang="${language}" dir="${text('direction')}">
<h1>${text('error_title')}</h1>
<p>${text('proxy_unavailable')}</p>
<p>${text('error_is_no_outcome')}</p>
</section>
`;
})}</main>
</body>
</html>
`,
  );

if (import.meta.main)
  writeFileSync(join(import.meta.dirname, '..', proxyPageFile), await proxyPage());
