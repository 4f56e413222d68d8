import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
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
  env?: { name: string; value?: string; valueFrom?: object }[];
  envFrom?: object[];
  ports?: { name: string; containerPort: number }[];
  readinessProbe?: Probe;
  livenessProbe?: Probe;
  resources: { requests: { memory: string }; limits: { memory: string } };
  securityContext: object;
}
interface PodSpec {
  terminationGracePeriodSeconds?: number;
  securityContext: object;
  automountServiceAccountToken?: boolean;
  initContainers?: Container[];
  containers: [Container];
  volumes: {
    secret?: { items: { key: string; path: string }[] };
    emptyDir?: object;
    configMap?: object;
  }[];
}
type Labels = Record<string, string>;
interface Pod {
  metadata: { labels?: Labels };
  spec: PodSpec;
}
interface Template {
  template: Pod;
}
interface Selector {
  matchLabels?: Labels;
  matchExpressions?: { key: string; operator: 'In' | 'NotIn'; values: string[] }[];
}
interface Peer {
  podSelector?: Selector;
  namespaceSelector?: Selector;
  ipBlock?: { cidr: string; except?: string[] };
}
interface Rule {
  from?: Peer[];
  to?: Peer[];
  ports: { port: number | string }[];
}
interface Policy {
  podSelector: Selector;
  policyTypes: string[];
  ingress?: Rule[];
  egress?: Rule[];
}
interface Manifest {
  kind: string;
  metadata: { name: string; labels?: Labels };
  spec?: Template & { jobTemplate?: { spec: Template } };
  data?: Record<string, string>;
}

const files = projectFiles().filter((path) => /^deploy\/kubernetes\/.+\.yaml$/.test(path));
const manifests = files.flatMap((file) =>
  parseAllDocuments(readProjectFile(file), { version: '1.1' }).map(
    (document) => document.toJS() as Manifest,
  ),
);
const isAlone = ({ kind }: Manifest) => kind === 'Pod';
const podOf = (manifest: Manifest) =>
  isAlone(manifest)
    ? (manifest as unknown as Pod)
    : (manifest.spec?.jobTemplate?.spec ?? manifest.spec)?.template;
const pods = new Map(
  manifests
    .filter((each) => isAlone(each) || ['Deployment', 'Job', 'CronJob'].includes(each.kind))
    .map((manifest) => [manifest.metadata.name, podOf(manifest)]),
);
const workloads = new Map([...pods].map(([name, pod]) => [name, pod?.spec]));
const { services } = readCompose({ PUBLIC_BASE_URL: 'https://pay.example.com' });
const ours = Object.entries(services).filter(([, { image }]) => image?.startsWith('payments:'));
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
    // An admin's command comes to a container that waits for it.
    expect(container?.args).toEqual(service.command ?? ['sleep', 'infinity']);
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
    expect([...Object.keys(service.environment ?? {}), 'NODE_EXTRA_CA_CERTS']).toEqual(
      expect.arrayContaining(Object.keys(own)),
    );

    const secrets = pod?.volumes.flatMap(({ secret }) => secret?.items ?? []) ?? [];
    const authority = { ...settings, ...own }['NODE_EXTRA_CA_CERTS'];
    expect(authority).toBe(own['DATABASE_URL_FILE'] ? '/run/secrets/postgres-ca' : '');
    expect(secrets.map(({ key }) => key).toSorted()).toEqual(
      (service.secrets ?? [])
        .filter((secret) => secret !== 'oidc-client-secret')
        .concat(authority ? ['postgres-ca'] : [])
        .toSorted(),
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

  it('takes every privilege from each container', () => {
    for (const [name, pod] of workloads) {
      expect(pod?.securityContext, name).toMatchObject({
        runAsNonRoot: true,
        seccompProfile: { type: 'RuntimeDefault' },
      });
      expect(pod?.automountServiceAccountToken, name).toBe(false);
      expect(Object.keys(pod ?? {}), name).not.toContain('serviceAccountName');
      expect(Object.keys(pod ?? {}).join(), name).not.toMatch(/host/);
      for (const { securityContext, resources } of containersOf(pod)) {
        expect(securityContext, name).toEqual({
          allowPrivilegeEscalation: false,
          capabilities: { drop: ['ALL'] },
          readOnlyRootFilesystem: true,
        });
        expect(resources.limits.memory, name).toBe(resources.requests.memory);
      }
      for (const volume of pod?.volumes ?? [])
        expect(Object.keys(volume).join(), name).toMatch(/^name,(emptyDir|secret|configMap)$/);
    }
  });

  it('names the class of each ingress, because controllers may ignore one without', () => {
    const ingresses = manifests.filter(({ kind }) => kind === 'Ingress');
    expect(ingresses.map(({ spec }) => spec)).toEqual([
      expect.objectContaining({ ingressClassName: 'nginx' }),
    ]);
  });

  it('has no secret in a variable', () => {
    for (const [name, pod] of workloads)
      for (const { env = [], envFrom = [] } of containersOf(pod)) {
        expect(JSON.stringify(envFrom), name).not.toContain('secret');
        for (const each of env) expect(each.valueFrom, `${name} ${each.name}`).toBeUndefined();
      }
  });

  it('checks the certificate of Postgres where psql connects', () => {
    const { env = [] } = containersOf(workloads.get('roles'))[0] ?? {};
    expect(Object.fromEntries(env.map((each) => [each.name, each.value]))).toMatchObject({
      PGSSLMODE: 'verify-full',
      PGSSLROOTCERT: settings['NODE_EXTRA_CA_CERTS'],
    });
  });
});

const containersOf = (pod: PodSpec | undefined) => [
  ...(pod?.initContainers ?? []),
  ...(pod?.containers ?? []),
];

describe('the network policies', () => {
  const policies = manifests
    .filter(({ kind }) => kind === 'NetworkPolicy')
    .map(({ metadata, spec }) => ({ name: metadata.name, ...(spec as unknown as Policy) }));
  const selects = ({ matchLabels = {}, matchExpressions = [] }: Selector, labels: Labels) =>
    Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
    matchExpressions.every(
      ({ key, operator, values }) => values.includes(labels[key] ?? '') === (operator === 'In'),
    );
  const policiesOf = (name: string) => {
    const labels = pods.get(name)?.metadata.labels ?? {};
    return policies.filter(({ podSelector }) => selects(podSelector, labels));
  };
  const waysOf = (name: string) => policiesOf(name).map((policy) => policy.name.slice(9));

  it('forbid every pod everything that no other policy allows', () => {
    for (const name of pods.keys()) {
      const [first, ...others] = policiesOf(name);
      expect(first, name).toEqual({
        name: 'payments-nobody',
        podSelector: { matchLabels: { 'app.kubernetes.io/part-of': 'payments' } },
        policyTypes: ['Ingress', 'Egress'],
      });
      for (const { ingress = [], egress = [] } of others)
        for (const { from, to } of [...ingress, ...egress])
          expect((from ?? to)?.length, name).toBeGreaterThan(0);
    }
  });

  it.each(ours)(
    'let %s out to what its container in docker-compose.yml reaches',
    (name, service) => {
      const { TEMPORAL_ADDRESS: temporal, DATABASE_URL_FILE: url } = service.environment ?? {};
      const ways = waysOf(name).filter((way) => !['nobody', 'names'].includes(way));
      expect(waysOf(name)).toContain('names');
      expect(ways.filter((way) => ['postgres', 'temporal', 'world'].includes(way))).toEqual([
        ...(url ? ['postgres'] : []),
        ...(temporal ? ['temporal'] : []),
        ...(service.networks?.includes('outside') ? ['world'] : []),
      ]);
    },
  );

  it('let in what asks the ports that a pod has', () => {
    const portsOf = (name: string) =>
      policiesOf(name).flatMap(({ ingress = [] }) => ingress.flatMap(({ ports }) => ports));
    for (const [name, pod] of workloads)
      expect(
        portsOf(name).map(({ port }) => port),
        name,
      ).toEqual(pod?.containers[0].ports?.map((port) => port.name) ?? []);
    expect(waysOf('api')).toContain('ingress');
    expect(waysOf('roles')).toEqual(['nobody', 'names', 'postgres']);
  });

  it('let nobody reach a private address as a part of the world', () => {
    const world = policies.find(({ name }) => name === 'payments-world');
    const [ipv4, ipv6] = world?.egress?.[0]?.to?.map(({ ipBlock }) => ipBlock) ?? [];
    expect(ipv4?.except).toEqual(
      expect.arrayContaining(['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '169.254.0.0/16']),
    );
    expect(ipv6).toEqual({ cidr: '2000::/3' });
  });
});
