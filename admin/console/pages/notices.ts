import { html } from 'hono/html';
import { byLabel } from '../../operations/fact.ts';
import { noticeFacts } from '../../operations/facts.ts';
import type { Action } from '../actions.ts';
import { select } from '../filters.ts';
import { action, type Html } from '../html.ts';
import type { PersonRequest } from '../request.ts';
import { applicationAction, pathOf, text, typedOr } from './application-action.ts';

const add = applicationAction({
  path: 'notices/add',
  role: 'admin',
  describe: (slug, request) => ({
    title: `Add an address for notices of ${slug}`,
    consequence:
      'It gets one mail with a link. Once somebody has agreed there, within 7 days, it is told when the live receiver of the application fails, and each day until it works again. Every mail has a link that ends them.',
    button: 'Add',
    done: `${text(request, 'address')} gets a mail with a link, one in 24 hours.`,
    fields: html`<label>
      E-mail address
      <input
        type="email"
        name="address"
        maxlength="254"
        value="${text(request, 'address')}"
        autocomplete="off"
        required
      />
    </label>`,
  }),
  execute: async (slug, request, reason) => {
    await request.operations.notices.add(slug, text(request, 'address'), reason);
  },
});

const remove = applicationAction({
  path: 'notices/remove',
  role: 'admin',
  describe: async (slug, request) => {
    const choices = (await request.operations.notices.list(slug)).map(({ address }) => address);
    // The row of the list. An address of a person stands in no address of a page.
    const ofRow = request.query.read('row', (row) => choices[Number(row)] ?? null) ?? '';
    return {
      title: `Remove an address for notices of ${slug}`,
      consequence:
        'It gets no further mail. If it is added again, somebody must agree again. An address that has ended notices by a link cannot be added again.',
      button: 'Remove',
      done: `${text(request, 'address')} gets no further notices.`,
      fields: select('Address', 'address', { choices, chosen: typedOr(request, 'address', ofRow) }),
    };
  },
  execute: async (slug, request, reason) => {
    await request.operations.notices.remove(slug, text(request, 'address'), reason);
  },
});

/** The changes of the addresses that are told about a receiver. */
export const noticeActions: readonly Action[] = [add, remove];

/** The people of an application who are told about its live receiver. */
export const noticesPart = async (
  slug: string,
  { session, operations, cells }: PersonRequest,
): Promise<Html> => {
  const { sendsMail } = operations.notices;
  const addresses = await operations.notices.list(slug);
  const isAdmin = session.role === 'admin';
  return html`${cells.table({
    caption: 'Addresses for notices',
    rows: addresses.map((address, row) => ({
      ...byLabel(noticeFacts(address)),
      ...(isAdmin && { Action: action(`${pathOf(slug)}/notices/remove?row=${row}`, 'Remove') }),
    })),
    ifEmpty: 'Nobody is told when the live receiver fails.',
  })}
    ${
      sendsMail
        ? ''
        : html`<p class="soft">
            The service sends no mail: it has no mail server. An operator sets <code>SMTP_HOST</code> and
            <code>SMTP_FROM</code>.
          </p>`
    }
    <div class="actions">
      ${isAdmin && sendsMail ? action(`${pathOf(slug)}/notices/add`, 'Add an address') : ''}
    </div>`;
};
