import { html } from 'hono/html';
import type { AuditFacts, AuditRecord } from '../../postgres/audit-log.ts';
import { pageLinks, pageOf, pageSize } from '../filters.ts';
import type { Cell, Html } from '../html.ts';
import { link, escapeControls } from '../html.ts';
import type { ConsoleResponse, Deps, PersonRequest, Route } from '../request.ts';
import { page } from '../request.ts';

const factsOf = (facts: AuditFacts | null): Html | null =>
  facts === null
    ? null
    : html`<span class="id">${Object.entries(facts).map(
        ([name, value]) =>
          html`<bdi>${escapeControls(`${name}: ${value === null ? 'none' : String(value)}`)}</bdi><br />`,
      )}</span>`;

/** The address of the audit log with one more condition. */
const sliceOf = (name: 'actor' | 'action' | 'subject', value: string): string =>
  `/audit?${String(new URLSearchParams({ [name]: value }))}`;

const rowOf = (record: AuditRecord): Cell[] => [
  record.at,
  link(sliceOf('actor', record.actor), record.actor),
  link(sliceOf('action', record.action), record.action),
  link(sliceOf('subject', record.subject), record.subject),
  record.via,
  factsOf(record.before),
  factsOf(record.after),
  record.reason,
];

export const auditRoutes = (deps: Deps): Route[] => {
  const list = async ({ query, session, cells }: PersonRequest): Promise<ConsoleResponse> => {
    const [subject, actor, action] = ['subject', 'actor', 'action'].map(
      (name) => query.get(name) || null,
    ) as [string | null, string | null, string | null]; // map() forgets the length.
    const after = /^\d{1,15}$/.test(query.get('after') ?? '') ? Number(query.get('after')) : null;
    const found = await deps
      .operationsOf(session.name)
      .auditLog({ subject, actor, action, before: after, limit: pageSize + 1 });
    const { rows, last } = pageOf(found);
    const slice = [subject, actor, action].filter((part) => part !== null).join(', ');
    return page(
      'Audit',
      html`${
        slice === ''
          ? html`<p class="soft">Choose a person, an action or a subject to see only its records.</p>`
          : html`<p>Only <bdi>${escapeControls(slice)}</bdi>. <a href="/audit">Show all</a></p>`
      }
      ${cells.table({
        caption: 'Audit log',
        headings: ['Time', 'Who', 'Action', 'Subject', 'Through', 'Before', 'After', 'Reason'],
        rows: rows.map(rowOf),
        ifEmpty: 'The audit log has no such record.',
      })}
      ${pageLinks('/audit', query, { next: last ? String(last.id) : null })}`,
    );
  };
  return [{ method: 'GET', path: '/audit', role: 'viewer', handle: list }];
};
