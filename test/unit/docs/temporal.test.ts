import { expect, it } from 'vitest';
import { readCompose } from '../../support/compose.ts';
import { readProjectFile } from '../../support/files.ts';

const { services, networks } = readCompose({ PUBLIC_BASE_URL: 'https://pay.example.com' });
const page = (name: string) => readProjectFile(`docs/operating/${name}.md`);
const heading = '## The temporal command';

it('with Compose the temporal command is run from the image that has it, beside the server', () => {
  const temporal = page('temporal');
  const [, host = '', port, name = ''] =
    /--entrypoint temporal -e TEMPORAL_ADDRESS=(\w+):(\d+) (\S+) /.exec(
      temporal.slice(temporal.indexOf(heading)),
    ) ?? [];
  const [tools, server] = [services[name], services[host]];
  expect(tools?.image).toMatch(/^temporalio\/admin-tools:/);
  expect(server?.image).toMatch(/^temporalio\/server:/);
  expect(server?.healthcheck?.test.at(-1)).toBe(port);
  const shared = tools?.networks?.filter((network) => server?.networks?.includes(network)) ?? [];
  expect(shared.length).toBeGreaterThan(0);
  expect(Object.keys(networks)).toEqual(expect.arrayContaining(shared));
});

it.each(['temporal', 'restoring', 'deploying'])(
  '%s.md says where it names the temporal command how it is run',
  (name) => {
    const text = page(name);
    expect(text).toMatch(/(^ *|`)temporal (workflow|operator) /m);
    expect(text).toContain(`(${name === 'temporal' ? '' : 'temporal.md'}#the-temporal-command)`);
    expect(page('temporal')).toContain(`\n${heading}\n`);
  },
);
