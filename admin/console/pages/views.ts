import { html } from 'hono/html';
import { viewsMax } from '../../../postgres/console/views.ts';
import { hasSecret } from '../actions.ts';
import { ownPath } from '../begun-login.ts';
import { escapeControls, type Html, notice } from '../html.ts';
import type { ConsoleResponse, Deps, PersonRequest, Route } from '../request.ts';
import { page, redirect } from '../request.ts';

const nameMax = 40;
const addressMax = 1_000;
const lists = /^\/(?:payments|refunds|disputes|links|deliveries)\?/;

/** Saves the list as it is filtered, under a name. */
export const saveView = (path: string, { query, csrf }: PersonRequest): Html => {
  const filter = new URLSearchParams(query.used());
  filter.delete('after');
  return html`<details>
    <summary>Save this view</summary>
    <form class="filters" method="post" action="/views">
      <input type="hidden" name="csrf" value="${csrf}" />
      <input type="hidden" name="address" value="${path}?${String(filter).replaceAll('*', '%2A')}" />
      <label>
        Name
        <input name="name" maxlength="${nameMax}" required autocomplete="off" />
      </label>
      <button>Save</button>
    </form>
  </details>`;
};

/** The saved views of a person, to remove them. */
export const viewsPart = ({ session, csrf, cells }: PersonRequest): Html =>
  cells.table({
    caption: 'Saved views',
    rows: session.views.map(({ name, address }) => ({
      View: html`<a href="${address}"><bdi>${escapeControls(name)}</bdi></a>`,
      Action: html`<form method="post" action="/views/remove">
        <input type="hidden" name="csrf" value="${csrf}" />
        <button name="name" value="${name}">Remove</button>
      </form>`,
    })),
    ifEmpty: 'You have saved no view. A list has “Save this view”.',
  });

export const viewRoutes = ({ views }: Pick<Deps, 'views'>): Route[] => {
  const refuse = (problem: string): ConsoleResponse =>
    page('Not saved', html`${notice('bad', problem)}<p>Nothing was changed.</p>`, 409);

  const save = async ({ form, session }: PersonRequest): Promise<ConsoleResponse> => {
    const name = form.get('name')?.trim() ?? '';
    const address = ownPath(form.get('address'));
    if (name === '' || name.length > nameMax)
      return refuse(`A name has 1 to ${nameMax} characters.`);
    if (!lists.test(address) || address.length > addressMax)
      return refuse('Only a list with its filter can be saved.');
    if (hasSecret(name) || hasSecret(address)) return refuse('It holds a token or a secret.');
    if (!(await views.save(session.name, { name, address })))
      return refuse(`You have ${viewsMax} views already. Your own page removes them.`);
    return redirect(address, `The view “${name}” is saved.`);
  };

  const remove = async ({ form, session }: PersonRequest): Promise<ConsoleResponse> => {
    const name = form.get('name') ?? '';
    await views.remove(session.name, name);
    return redirect('/me', `The view “${name}” was removed.`);
  };

  return [
    { method: 'POST', path: '/views', role: 'viewer', owner: 'person', handle: save },
    { method: 'POST', path: '/views/remove', role: 'viewer', owner: 'person', handle: remove },
  ];
};
