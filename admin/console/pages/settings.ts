import { html } from 'hono/html';
import { type ConsoleRequest, type ConsoleResponse, page, type Route } from '../request.ts';

const zones = ['UTC', ...Intl.supportedValuesOf('timeZone').filter((zone) => zone !== 'UTC')];
const known = new Set(zones);
/** Names that the list above has under an older one. */
const renamed = new Set(['Asia/Kolkata', 'Asia/Kathmandu', 'Asia/Yangon', 'Europe/Kyiv']);

/** The zones to choose from, with the one that is chosen. */
export const zonesWith = (zone: string): readonly string[] =>
  known.has(zone) ? zones : [zone, ...zones];

export const isZone = (zone: string): boolean => known.has(zone) || renamed.has(zone);

const show = async ({ zone, csrf }: ConsoleRequest): Promise<ConsoleResponse> =>
  page(
    'Settings',
    html`<form class="form" method="post">
      <input type="hidden" name="csrf" value="${csrf}" />
      <label>
        Time zone of every page
        <select name="zone">
          ${zones.map(
            (name) => html`<option ${name === zone ? html`selected` : ''}>${name}</option>`,
          )}
        </select>
      </label>
      <div class="actions"><button class="main">Save</button></div>
    </form>`,
  );

const save = async ({ form }: ConsoleRequest): Promise<ConsoleResponse> => {
  const given = form.get('zone') ?? '';
  const zone = isZone(given) ? given : 'UTC';
  return { kind: 'redirect', to: '/settings', zone, message: `Every page shows times in ${zone}.` };
};

export const settingsRoutes = (): Route[] => [
  { method: 'GET', path: '/settings', role: 'viewer', owner: 'person', handle: show },
  { method: 'POST', path: '/settings', role: 'viewer', owner: 'person', handle: save },
];
