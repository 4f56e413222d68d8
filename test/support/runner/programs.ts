import { type GoProgram, findGoProgram, goTarget } from '../../../stack/programs/go.ts';
import { findOnPath, isProgram, thisMachine } from '../../../stack/programs/machine.ts';
import { cliProgram, serverProgram, sqlTool } from '../../../stack/temporal/program.ts';
import * as tools from '../../../tools/go-programs.ts';

const onPostgres = [
  'test/production/chaos/chaos.test.ts',
  'test/production/chaos/restore-drill.test.ts',
  'test/production/notices.test.ts',
  'test/production/rolling-restart.test.ts',
  'test/integration/docs/without-compose.test.ts',
];
const alerting = ['test/integration/deploy/alerting.test.ts'];

/** The programs that tests need, in the order in which they are compiled, with the files of those tests. */
export const compiled: readonly (readonly [program: GoProgram, files: readonly string[]])[] = [
  [serverProgram, onPostgres],
  [sqlTool, onPostgres],
  [tools.promtool, ['test/integration/deploy/alerts.test.ts']],
  [tools.alertmanager, alerting],
  [tools.amtool, alerting],
  [tools.kubernetesCheck, ['test/integration/deploy/kubernetes.test.ts']],
  [tools.oasdiff, ['test/integration/tools/breaking-changes.test.ts']],
  [tools.oapiCodegen, ['test/integration/client/generated.test.ts']],
];
export const composeFile = 'test/compose/compose.test.ts';
/** What it needs beside those, before it makes its images. It compiles them itself. */
const ofCompose = [tools.dockerCompose, tools.prometheus, tools.nodeExporter, tools.temporalUi];

const isMissing = (program: GoProgram) => !isProgram(goTarget(thisMachine(), program));

/** The files that need a program which is not in the cache. */
export const filesThatWait = (): Set<string> =>
  new Set(compiled.filter(([program]) => isMissing(program)).flatMap(([, files]) => files));

/** What this machine lacks for these files. */
export const missingFor = (files: readonly string[]) => {
  const machine = thisMachine();
  const withCompose = files.includes(composeFile);
  const needed = compiled.filter(([, users]) => users.some((user) => files.includes(user)));
  const programs = needed.map(([program]) => program).filter(isMissing);
  const hasTemporal =
    !isMissing(cliProgram) || machine.TEMPORAL_CLI_PATH || findOnPath('temporal', machine).length;
  const needsTemporal = files.some((file) =>
    /^test\/(?:integration|production|compose)\//.test(file),
  );
  return {
    programs,
    names: [
      ...(hasTemporal || !needsTemporal ? [] : ['temporal']),
      ...[...programs, ...(withCompose ? ofCompose.filter(isMissing) : [])].map(({ name }) => name),
    ],
  };
};

/**
 * Compiles the programs beside the tests, one after the other. A test that needs one waits for it. If that fails, the
 * test tries again and says why.
 */
export const compileBeside = async (
  programs: readonly GoProgram[],
  say: (line: string) => void,
) => {
  const terminal = { say, step: async <T>(_: string, work: () => T | Promise<T>) => work() };
  for (const program of programs) {
    const startedAt = Date.now();
    const end = await findGoProgram(program, { ...thisMachine(), terminal }).then(
      () => `Compiled ${program.name}`,
      (error: Error) => `Could not compile ${program.name}: ${error.message}`,
    );
    say(`${end} (${Math.round((Date.now() - startedAt) / 1000)} s)`);
  }
};
