import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { findGoProgram } from '../../../stack/programs/go.ts';
import { thisMachine } from '../../../stack/programs/machine.ts';
import { kubernetesCheck } from '../../../tools/go-programs.ts';
import { readCompose } from '../../support/checks/compose.ts';
import { projectFiles, readProjectFile } from '../../support/checks/project-files.ts';
import { useProgram } from '../../support/runner/use-program.ts';
import { aFolder } from '../../support/stack/support.ts';

interface Probe {
  httpGet: { path: string; port: string };
}
interface Container {
  image: string;
  command?: string[];
  args?: string[];
  env?: { name: string; value: string }[];
  envFrom?: { configMapRef: { name: string } }[];
  ports?: { name: string; containerPort: number }[];
  readinessProbe?: Probe;
  livenessProbe?: Probe;
  resources: { limits: { memory: string } };
  securityContext: object;
}
interface PodSpec {
  terminationGracePeriodSeconds?: number;
  securityContext: object;
  containers: [Container];
  volumes: { secret?: { items: { key: string; path: string }[] } }[];
}
interface Template {
  template: { spec: PodSpec };
}
interface Manifest {
  kind: string;
  metadata: { name: string };
  spec?: Template & { jobTemplate?: { spec: Template } };
  data?: Record<string, string>;
}

const files = projectFiles().filter((path) => /^deploy\/kubernetes\/.+\.yaml$/.test(path));
const manifests = files.flatMap((file) =>
  parseAllDocuments(readProjectFile(file), { version: '1.1' }).map(
    (document) => document.toJS() as Manifest,
  ),
);
const podOf = ({ spec }: Manifest) => (spec?.jobTemplate?.spec ?? spec)?.template.spec;
const workloads = new Map(
  manifests
    .filter(({ kind }) => ['Deployment', 'Job', 'CronJob'].includes(kind))
    .map((manifest) => [manifest.metadata.name, podOf(manifest)]),
);
const { services } = readCompose({ PUBLIC_BASE_URL: 'https://pay.example.com' });
const ours = Object.entries(services).filter(
  ([name, { image }]) => image?.startsWith('payments:') && name !== 'admin',
);
const settings = manifests.find(({ kind }) => kind === 'ConfigMap')?.data ?? {};

describe('the strict reader of Kubernetes', () => {
  const check = useProgram(() => findGoProgram(kubernetesCheck, thisMachine()));
  const run = (...paths: string[]) => promisify(execFile)(check(), paths);

  it('accepts every manifest', async () => {
    const { stdout } = await run(...files);
    expect(stdout.trim().split('\n')).toHaveLength(manifests.length);
  });

  it('refuses a field that Kubernetes does not know', async () => {
    const file = join(aFolder(), 'wrong.yaml');
    writeFileSync(file, readProjectFile(files[0] ?? '').replace('backoffLimit', 'backofLimit'));
    await expect(run(file)).rejects.toThrow('unknown field "spec.backofLimit"');
  });
});

describe('deploy/kubernetes', () => {
  it('has each process of docker-compose.yml', () => {
    expect(ours.length).toBeGreaterThan(6);
    expect([...workloads.keys()]).toEqual(expect.arrayContaining(ours.map(([name]) => name)));
  });

  it.each(ours)('runs %s as docker-compose.yml does', (name, service) => {
    const pod = workloads.get(name);
    const [container] = pod?.containers ?? [];
    // A command would replace the init in the image's entrypoint.
    expect(container?.command).toBeUndefined();
    expect(container?.args).toEqual(service.command);
    expect(container?.image).toBe(service.image);

    const own = Object.fromEntries((container?.env ?? []).map((each) => [each.name, each.value]));
    const optional = /^(OIDC_|KEEP_|SECURITY_CONTACT)/;
    const elsewhere = new Set([
      ...['PUBLIC_BASE_URL', 'TRUSTED_PROXIES', 'TEMPORAL_ADDRESS', 'TEMPORAL_UI_URL'],
    ]);
    for (const [key, value] of Object.entries(service.environment ?? {})) {
      if (optional.test(key)) continue;
      const given = { ...settings, ...own }[key];
      if (elsewhere.has(key)) expect(given, key).toBeDefined();
      else expect(given, key).toBe(value);
    }
    expect(Object.keys(service.environment ?? {})).toEqual(
      expect.arrayContaining(Object.keys(own)),
    );

    const secrets = pod?.volumes.flatMap(({ secret }) => secret?.items ?? []) ?? [];
    expect(secrets.map(({ key }) => key).toSorted()).toEqual(
      (service.secrets ?? []).filter((secret) => secret !== 'oidc-client-secret').toSorted(),
    );
    for (const { key, path } of secrets) expect(path).toBe(key);

    const memory = { m: 'Mi', g: 'Gi' }[service.mem_limit?.at(-1) ?? ''];
    expect(container?.resources.limits.memory).toBe(`${service.mem_limit?.slice(0, -1)}${memory}`);
    const grace = pod?.terminationGracePeriodSeconds;
    expect(grace && `${grace}s`).toBe(service.stop_grace_period);
  });

  it('probes the path and port that docker-compose.yml probes', () => {
    for (const [name, { healthcheck }] of ours) {
      if (!healthcheck) continue;
      const [container] = workloads.get(name)?.containers ?? [];
      const { httpGet } = container?.readinessProbe ?? container?.livenessProbe ?? {};
      const port = container?.ports?.find((each) => each.name === httpGet?.port)?.containerPort;
      const probe = healthcheck.test.join(' ');
      expect(probe, name).toContain(`/${port} `);
      expect(probe, name).toContain(`GET ${httpGet?.path} `);
    }
  });

  it('takes every privilege from each pod', () => {
    for (const [name, pod] of workloads) {
      expect(pod?.securityContext, name).toMatchObject({
        runAsNonRoot: true,
        seccompProfile: { type: 'RuntimeDefault' },
      });
      expect(pod?.containers[0].securityContext, name).toEqual({
        allowPrivilegeEscalation: false,
        capabilities: { drop: ['ALL'] },
        readOnlyRootFilesystem: true,
      });
    }
  });
});

it('the scrape configuration of the page has the jobs of deploy/prometheus.yml', () => {
  const page = readProjectFile('docs/operating/kubernetes.md');
  const block = /```yaml\n(scrape_configs:[\s\S]*?)```/.exec(page)?.[1] ?? '';
  const namesIn = (text: string) =>
    (parse(text) as { scrape_configs: { job_name: string }[] }).scrape_configs.map(
      ({ job_name }) => job_name,
    );
  expect(namesIn(readProjectFile('deploy/prometheus.yml'))).toEqual(
    expect.arrayContaining(namesIn(block)),
  );
  expect(namesIn(block)).toEqual(['payments-api', 'payments-worker']);
});
