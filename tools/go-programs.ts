import { join, resolve } from 'node:path';
import type { GoProgram } from '../stack/programs/go.ts';

/** The programs that tests, images and maintainers use. Each is compiled once, into the cache. */

const root = resolve(import.meta.dirname, '..');

/** Prometheus's checker of rules, without service discovery, whose clients are most of the program. */
export const promtool: GoProgram = {
  name: 'promtool',
  module: join(root, 'tools/prometheus'),
  packagePath: 'github.com/prometheus/prometheus/cmd/promtool',
  tags: 'remove_all_sd',
};

export const prometheus: GoProgram = {
  name: 'prometheus',
  module: join(root, 'tools/prometheus'),
  packagePath: 'github.com/prometheus/prometheus/cmd/prometheus',
  // Compose's containers are found by DNS.
  tags: 'remove_all_sd,enable_dns_sd',
};

const ofAlertmanager = (name: string): GoProgram => ({
  name,
  module: join(root, 'tools/alertmanager'),
  packagePath: `github.com/prometheus/alertmanager/cmd/${name}`,
});
export const alertmanager = ofAlertmanager('alertmanager');
export const amtool = ofAlertmanager('amtool');

export const nodeExporter: GoProgram = {
  name: 'node_exporter',
  module: join(root, 'tools/node-exporter'),
  packagePath: 'github.com/prometheus/node_exporter',
};

export const temporalUi: GoProgram = {
  name: 'ui-server',
  module: join(root, 'stack/temporal'),
  packagePath: 'github.com/temporalio/ui-server/v2/cmd/server',
};

export const dockerCompose: GoProgram = {
  name: 'docker-compose',
  module: join(root, 'tools/docker-compose'),
  packagePath: 'github.com/docker/compose/v2/cmd',
  linkerFlags: '-X github.com/docker/compose/v2/internal.Version=v2.40.3',
};

export const kubernetesCheck: GoProgram = {
  name: 'kubernetes-check',
  module: join(root, 'tools/kubernetes'),
  packagePath: '.',
  sources: ['main.go'],
};

export const oasdiff: GoProgram = {
  name: 'oasdiff',
  module: join(root, 'tools/oasdiff'),
  packagePath: 'github.com/oasdiff/oasdiff',
};

export const oapiCodegen: GoProgram = {
  name: 'oapi-codegen',
  module: join(root, 'test/fakes/client/oapi-codegen'),
  packagePath: 'github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen',
};
