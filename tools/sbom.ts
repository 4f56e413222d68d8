import { v5 as uuidOf } from 'uuid';

/** The content of the image, as Node prints it in there. */
interface Contents {
  node: string;
  /** Debian's packages, as dpkg writes them. */
  debian: string;
  packages: { path: string; version: string; integrity: string; license?: string }[];
}

/** Runs in the image, in its folder. The lock file also has what the build has removed. */
export const listContents = `
  const { existsSync, readFileSync, readdirSync } = require('node:fs');
  const dpkg = '/var/lib/dpkg/';
  const more = readdirSync(dpkg + 'status.d').sort().map((name) => 'status.d/' + name);
  const lock = JSON.parse(readFileSync('node_modules/.package-lock.json', 'utf8'));
  const isThere = (path) => existsSync(path + '/package.json');
  console.log(JSON.stringify({
    node: process.versions.node,
    debian: ['status', ...more].map((name) => readFileSync(dpkg + name, 'utf8')).join('\\n'),
    packages: Object.entries(lock.packages).filter(([path]) => isThere(path)).map(([path, entry]) => ({
      path, version: entry.version, integrity: entry.integrity, license: entry.license,
    })),
  }));
`;

const debianComponents = (status: string) =>
  status
    .split(/\n{2,}/)
    .filter((paragraph) => /^Status: .* installed$/m.test(paragraph))
    .map((paragraph) => {
      const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(paragraph)?.[1] ?? '';
      const [name, version, source] = [field('Package'), field('Version'), field('Source')];
      const upstream = source ? `&upstream=${encodeURIComponent(source.split(' ')[0] ?? '')}` : '';
      const qualifiers = `arch=${field('Architecture')}&distro=debian-12${upstream}`;
      const purl = `pkg:deb/debian/${encodeURIComponent(name)}@${encodeURIComponent(version)}?${qualifiers}`;
      return { type: 'library', 'bom-ref': purl, name, version, purl };
    });

const npmComponent = ({ path, version, integrity, license }: Contents['packages'][number]) => {
  const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
  const [algorithm = '', hash = ''] = integrity.split('-');
  return {
    type: 'library',
    // A version may be there in several places.
    'bom-ref': path,
    name,
    version,
    purl: `pkg:npm/${name.replace('@', '%40')}@${version}`,
    hashes: [
      {
        alg: algorithm.replace('sha', 'SHA-'),
        content: Buffer.from(hash, 'base64').toString('hex'),
      },
    ],
    ...(license && { licenses: [{ license: { name: license } }] }),
  };
};

/** Everything in the image as CycloneDX 1.5. The same image has the same text. */
export const createSbom = (
  contents: string,
  version: string,
  image: string,
  /** Seconds since 1970. */
  time: string,
): string => {
  const { node, debian, packages } = JSON.parse(contents) as Contents;
  const [repository = '', digest = ''] = image.split('@');
  const purl = `pkg:oci/payments@${encodeURIComponent(digest)}?repository_url=${encodeURIComponent(repository)}`;
  const components = [
    {
      type: 'application',
      'bom-ref': `node@${node}`,
      name: 'node',
      version: node,
      purl: `pkg:generic/node@${node}`,
      cpe: `cpe:2.3:a:nodejs:node.js:${node}:*:*:*:*:*:*:*`,
    },
    ...debianComponents(debian),
    ...packages.map(npmComponent),
  ];
  const sbom = {
    $schema: 'http://cyclonedx.org/schema/bom-1.5.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    serialNumber: `urn:uuid:${uuidOf(image, uuidOf.URL)}`,
    version: 1,
    metadata: {
      timestamp: new Date(Number(time) * 1000).toISOString(),
      component: { type: 'container', 'bom-ref': purl, name: 'payments', version, purl },
    },
    components,
    dependencies: [{ ref: purl, dependsOn: components.map((component) => component['bom-ref']) }],
  };
  return `${JSON.stringify(sbom, null, 2)}\n`;
};
