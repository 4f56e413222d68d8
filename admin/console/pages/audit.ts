import { html } from 'hono/html';
import type { AuditFacts, AuditRecord } from '../../../postgres/audit-log.ts';
import { labelOf } from '../../operations/labels.ts';
import { pageLinks, pageOf, pageSize } from '../filters.ts';
import type { Html, Row } from '../html.ts';
import { link, escapeControls } from '../html.ts';
import type { ConsoleResponse, PersonRequest, Route } from '../request.ts';
import { page } from '../request.ts';

/** Names and codes that are written with underscores. */
const plain = (text: string): string =>
  /^[a-z]+(?:_[a-z]+)+$/.test(text) ? text.replaceAll('_', ' ') : text;

const show = (value: AuditFacts[string] | undefined): string =>
  value === null || value === undefined ? 'none' : plain(String(value));

/** The differences that a change made: `requests_per_minute: 120 → 1000`. */
const changesOf = ({ before, after }: AuditRecord): Html | null => {
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])];
  const lines = names
    .map((name) => ({ name, old: before?.[name], now: after?.[name] }))
    .filter(({ old, now }) => show(old) !== show(now))

    .map((each) => ({ ...each, name: plain(each.name) }))
    .map(({ name, old, now }) =>
      old === undefined || before === null
        ? `${name}: ${show(now)}`
        : now === undefined
          ? `${name}: ${show(old)} →`
          : `${name}: ${show(old)} → ${show(now)}`,
    );
  if (lines.length === 0) return null;
  return html`<span class="id">${lines.map((line) => html`<bdi>${escapeControls(line)}</bdi><br />`)}</span>`;
};

/** The address of the audit log with one more condition. */
const sliceOf = (name: 'actor' | 'action' | 'subject', value: string): string =>
  `/audit?${String(new URLSearchParams({ [name]: value }))}`;

const rowOf = (record: AuditRecord): Row => ({
  Time: record.at,
  Who: link(sliceOf('actor', record.actor), record.actor),
  Action: link(sliceOf('action', record.action), labelOf('audit', record.action)),
  Subject: link(sliceOf('subject', record.subject), record.subject),
  Through: record.via && labelOf('via', record.via),
  Change: changesOf(record),
  Reason: record.reason,
});

const list = async ({ query, operations, cells }: PersonRequest): Promise<ConsoleResponse> => {
  const [subject, actor, action] = ['subject', 'actor', 'action'].map(
    (name) => query.get(name) || null,
  ) as [string | null, string | null, string | null]; // map() forgets the length.
  const after = /^\d{1,15}$/.test(query.get('after') ?? '') ? Number(query.get('after')) : null;
  const filter = { subject, actor, action, before: after, limit: pageSize + 1 };
  const found = await operations.auditLog(filter);
  const { rows, last } = pageOf(found);
  const slice = [subject, actor, action && labelOf('audit', action)]
    .filter((part) => part !== null)
    .join(', ');
  return page(
    'Audit',
    html`${
      slice === ''
        ? html`<p class="soft">Choose a person, an action or a subject to see only its records.</p>`
        : html`<p>Only <bdi>${escapeControls(slice)}</bdi>. <a href="/audit">Show all</a></p>`
    }
      ${cells.table({
        caption: 'Audit log',
        rows: rows.map(rowOf),
        ifEmpty: 'The audit log has no such record.',
      })}
      ${pageLinks('/audit', query, last ? String(last.id) : null)}`,
  );
};
export const auditRoutes: Route[] = [
  { method: 'GET', path: '/audit', role: 'viewer', handle: list },
];
