import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { debian, debianArchive, gatherNode, images } from '../../tools/compose/images.ts';

const run = promisify(execFile);

/**
 * Serves stand-ins of the images in the Dockerfile as a registry does.
 * @returns a home folder in which buildah and skopeo take it for Docker Hub
 */
export const serveBaseImages = async (folder: string) => {
  const layout = join(folder, 'base-images');
  await makeBaseImages(folder, layout);
  const server = createServer((req, res) => {
    const [, name, reference = ''] =
      /^\/v2\/library\/(\w+)\/(?:manifests|blobs)\/(.+)$/.exec(req.url ?? '') ?? [];
    if (!name) return res.end();
    const digest = digestOf(layout, `${name}:${reference}`) ?? reference;
    const file = join(layout, 'blobs', digest.replace(':', '/'));
    if (!existsSync(file)) return res.writeHead(404).end();
    const isManifest = req.url?.includes('/manifests/');
    const type = isManifest
      ? 'application/vnd.oci.image.manifest.v1+json'
      : 'application/octet-stream';
    res.writeHead(200, { 'content-type': type, 'docker-content-digest': digest });
    return res.end(readFileSync(file));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const home = join(folder, 'home');
  mkdirSync(join(home, '.config/containers'), { recursive: true });
  writeFileSync(
    join(home, '.config/containers/registries.conf'),
    `[[registry]]\nprefix = "docker.io"\nlocation = "127.0.0.1:${port}"\ninsecure = true\n`,
  );
  return {
    home,
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
};

const digestOf = (layout: string, name: string): string | undefined => {
  const { manifests } = JSON.parse(readFileSync(join(layout, 'index.json'), 'utf8')) as {
    manifests: { digest: string; annotations: Record<string, string> }[];
  };
  return manifests.find(
    ({ annotations }) => annotations['org.opencontainers.image.ref.name'] === name,
  )?.digest;
};

const makeBaseImages = async (folder: string, layout: string) => {
  const [storage, context] = [join(folder, 'storage'), join(folder, 'node-image')];
  mkdirSync(context);
  await gatherNode(context);
  const buildah = async (...args: string[]): Promise<string> => {
    const own = ['--storage-driver', 'vfs', '--root', storage, '--runroot', join(folder, 'run')];
    return (await run('buildah', [...own, ...args], { maxBuffer: 1 << 26 })).stdout.trim();
  };
  const container = await buildah('from', 'scratch');
  await buildah('add', '--quiet', container, await debianArchive(), '/');
  const path = 'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
  await buildah('config', '--env', path, container);
  await buildah('commit', '--quiet', container, debian);
  const options = ['--quiet', '--isolation', 'chroot', '--target', 'node', '--tag', 'node'];
  await buildah('build', ...options, context);
  await buildah('push', '--quiet', 'node', `oci:${layout}:${images()['node']}`);
  await buildah('push', '--quiet', debian, `oci:${layout}:debian:bookworm-slim`);
  for (const left of [storage, context]) rmSync(left, { recursive: true });
};
