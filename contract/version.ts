import manifest from '../package.json' with { type: 'json' };

/** The version of the service, its API's document included: `<major>.<minor>.<patch>`, as `docs/releasing.md` promises. */
export const { version } = manifest;
