import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { readStackConfig } from '../../config.ts';

const run = promisify(execFile);

interface GoProgram {
  module: string;
  version: string;
  /** The checksum of the module, as in go.sum. */
  sum: string;
  package: string;
  tags?: string;
  /** The variable that holds the version. */
  versionVariable?: string;
}

/** Each is the project's own program, built from its public Go module. */
export const goPrograms = {
  'docker-compose': {
    module: 'github.com/docker/compose/v2',
    version: 'v2.40.3',
    sum: 'h1:XeYkQu1svDtyfZPv5nTwFryQ25ZJMkIlc4pz9HalMPI=',
    package: './cmd',
    versionVariable: 'github.com/docker/compose/v2/internal.Version',
  },
  caddy: {
    module: 'github.com/caddyserver/caddy/v2',
    version: 'v2.11.7',
    sum: 'h1:yj0Y4fYZGPkSvibBJ1sTWE33xC0fxztVyXEW5iIdUT4=',
    package: './cmd/caddy',
  },
  prometheus: {
    module: 'github.com/prometheus/prometheus',
    version: 'v0.315.0',
    sum: 'h1:sFGZWmC2Hk9N1NBJGCnXYZb5hyLCq8yuAMoEjLAg6ac=',
    package: './cmd/prometheus',
    // Compose's containers are found by DNS.
    tags: 'remove_all_sd,enable_dns_sd',
  },
} as const satisfies Record<string, GoProgram>;

/** Built once, in about two minutes each, and kept in this folder. @returns its path */
export const findGoProgram = async (
  name: keyof typeof goPrograms,
  cache: string,
): Promise<string> => {
  const { inherited } = readStackConfig();
  const program: GoProgram = goPrograms[name];
  const target = join(cache, `${name}-${program.version}`, name);
  if (existsSync(target)) return target;
  const { stdout } = await run('go', [
    ...['mod', 'download', '-json'],
    `${program.module}@${program.version}`,
  ]);
  const { Dir, Sum } = JSON.parse(stdout) as { Dir: string; Sum: string };
  if (Sum !== program.sum) throw new Error(`${program.module} has the sum ${Sum}`);
  const folder = mkdtempSync(join(tmpdir(), `payments-${name}-`));
  try {
    // A copy, since `go install` refuses modules with exclude directives.
    cpSync(Dir, folder, { recursive: true });
    await run('chmod', ['-R', 'u+w', folder]);
    const flags = program.versionVariable ? `-X ${program.versionVariable}=${program.version}` : '';
    mkdirSync(dirname(target), { recursive: true });
    const temporary = `${target}.${process.pid}`;
    await run(
      'go',
      [
        ...['build', '-trimpath', '-tags', program.tags ?? '', '-ldflags', `-s -w ${flags}`],
        ...['-o', temporary, program.package],
      ],
      { cwd: folder, env: { ...inherited, CGO_ENABLED: '0', GOWORK: 'off' } },
    );
    renameSync(temporary, target);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return target;
};
