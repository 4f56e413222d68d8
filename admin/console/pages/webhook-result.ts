import { html } from 'hono/html';
import { hideQuery } from '../../operations/webhook-url.ts';
import { coded, action, escapeControls, notice } from '../html.ts';
import type { ConsoleOperations, ConsoleResponse, PersonRequest } from '../request.ts';
import { page } from '../request.ts';

type WebhookTest = Awaited<ReturnType<ConsoleOperations['testWebhook']>>;

/** The result of a sample, with what the receiver answered. */
export const testResult = (
  slug: string,
  { cells }: PersonRequest,
  test: WebhookTest,
): ConsoleResponse => {
  const { url, responseStatus, durationMs, errorClass, responseBody, responseTruncated, sent } =
    test;
  return page(
    `The test webhook of ${slug}`,
    html`${
      errorClass === null
        ? notice('good', 'The receiver accepted the sample.')
        : notice('bad', 'The receiver did not accept the sample.')
    }
      ${cells.facts({
        'Webhook URL': hideQuery(url),
        'Status of the answer': responseStatus,
        Error: errorClass && coded('attemptError', errorClass),
        Duration: durationMs === null ? null : `${durationMs} ms`,
      })}
      ${
        responseBody === null || responseBody === ''
          ? ''
          : html`<h2>Answer${responseTruncated ? ', its beginning' : ''}</h2>
              <pre><bdi>${escapeControls(responseBody)}</bdi></pre>`
      }
      ${
        sent === null
          ? ''
          : html`<details>
              <summary>The bytes of the sample</summary>
              <pre><bdi>${escapeControls(sent)}</bdi></pre>
            </details>`
      }
      <div class="actions">
        ${action(`/applications/${slug}/test-webhook`, 'Send another one')}
        ${action(`/applications/${slug}`, 'Done')}
      </div>`,
  );
};
