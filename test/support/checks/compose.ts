import { parse } from 'yaml';
import { readProjectFile } from './project-files.ts';

/** The fields that the tests look at, after YAML's merges. */
export interface ComposeService {
  image?: string;
  command?: string[];
  entrypoint?: string[];
  environment?: Record<string, string>;
  secrets?: string[];
  configs?: { source: string; target: string }[];
  depends_on?: Record<string, { condition: string }>;
  healthcheck?: { test: string[] };
  mem_limit?: string;
  logging?: { driver: string; options?: Record<string, string> };
  networks?: string[];
  ports?: string[];
  profiles?: string[];
  restart?: string;
  read_only?: boolean;
  cap_add?: string[];
  cap_drop?: string[];
  security_opt?: string[];
  stop_grace_period?: string;
  volumes?: string[];
}

interface Compose {
  services: Record<string, ComposeService>;
  secrets: Record<string, { file: string }>;
  configs: Record<string, { content?: string; file?: string }>;
  networks: Record<string, { internal?: boolean }>;
  volumes: Record<string, object>;
}

/** docker-compose.yml as Compose sees it with these variables. @throws Error where one is missing */
export const readCompose = (variables: Record<string, string>): Compose =>
  // Interpolated afterwards, as Compose does it: a value cannot become YAML.
  interpolate(parse(readProjectFile('docker-compose.yml'), { merge: true }), variables) as Compose;

const interpolate = (value: unknown, variables: Record<string, string>): unknown => {
  if (typeof value === 'string') return fill(value, variables);
  if (Array.isArray(value)) return value.map((each) => interpolate(each, variables));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [key, interpolate(each, variables)]),
  );
};

const fill = (text: string, variables: Record<string, string>): string =>
  text.replaceAll(
    /\$(?:(\$)|\{(\w+)(?::([?-])([^}]*))?\})/g,
    (_, dollar: string | undefined, name: string, how: string | undefined, rest: string) => {
      if (dollar) return '$';
      const given = variables[name];
      if (given) return given;
      if (how === '-') return rest;
      throw new Error(`${name} is not set${how ? `: ${rest}` : ''}`);
    },
  );
