import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findGoProgram } from '../stack/programs/go.ts';
import { thisMachine } from '../stack/programs/machine.ts';
import { oasdiff } from './go-programs.ts';

const folder = join(import.meta.dirname, 'oasdiff');

/**
 * Our own decisions where oasdiff's defaults differ. Clients depend on operation ids (generated code), on
 * defaults, and on every declared error code and status. New statuses may come: the contract says that
 * they are announced.
 */
const severityLevels = join(folder, 'severity-levels.txt');

interface WebhookOperation {
  parameters?: { name: string; in: string; required?: boolean; schema?: object }[];
  requestBody?: { content: object };
}

/** The parts of an OpenAPI document that the comparison rewrites. */
export interface OpenApiDocument {
  paths?: object;
  webhooks?: Record<string, Record<string, WebhookOperation>>;
}

interface Change {
  id: string;
  text: string;
  operation: string;
  path: string;
}

/** Compares two OpenAPI documents with oasdiff. @returns a line for each change that breaks an application */
export const breakingChanges = async (
  released: OpenApiDocument,
  current: OpenApiDocument,
): Promise<string[]> => {
  const program = await findGoProgram(oasdiff, thisMachine());
  const temporary = mkdtempSync(join(tmpdir(), 'payments-openapi-'));
  try {
    const write = (name: string, document: OpenApiDocument): string => {
      const path = join(temporary, name);
      writeFileSync(path, JSON.stringify(withWebhooksAsResponses(document), openEnumsAsEnums));
      return path;
    };
    const { stdout } = await promisify(execFile)(program, [
      'breaking',
      write('released.json', released),
      write('current.json', current),
      '--severity-levels',
      severityLevels,
      '--format',
      'json',
    ]);
    const changes = JSON.parse(stdout || '[]') as Change[]; // oasdiff's own format.
    return changes.map(({ id, text, operation, path }) => `${operation} ${path}: ${text} (${id})`);
  } finally {
    rmSync(temporary, { recursive: true });
  }
};

interface OpenEnum {
  anyOf: [{ type: 'string'; enum: string[] }, object];
}

/** Whether a schema is one of contract/open-enum.ts. */
const isOpenEnum = (schema: unknown): schema is OpenEnum => {
  if (typeof schema !== 'object' || schema === null || !('anyOf' in schema)) return false;
  const { anyOf } = schema;
  if (!Array.isArray(anyOf) || anyOf.length !== 2) return false;
  const [known, any] = anyOf as [object, object]; // Schemas are objects.
  return 'enum' in known && JSON.stringify(any) === '{"type":"string"}';
};

/**
 * A set of texts that may grow is compared by its known values. Opening a set is no break, because v1 allows
 * new values; the loss of a known value is one.
 */
const openEnumsAsEnums = (_key: string, schema: unknown): unknown => {
  if (!isOpenEnum(schema)) return schema;
  const { anyOf, ...rest } = schema;
  return { ...rest, ...anyOf[0] };
};

/**
 * oasdiff compares a webhook like any request: the receiver may demand less than before. Here the
 * applications are the receivers, and what we send must stay readable for them, like a response.
 */
const withWebhooksAsResponses = ({ webhooks = {}, paths, ...document }: OpenApiDocument) => {
  const asPaths = Object.entries(webhooks).map(([name, operations]) => {
    const asOperations = Object.entries(operations).map(([method, webhook]) => {
      const headers = (webhook.parameters ?? []).map(
        ({ name: header, required = false, schema = {} }) => [header, { required, schema }],
      );
      const response = {
        description: '',
        headers: Object.fromEntries(headers) as object,
        content: webhook.requestBody?.content,
      };
      return [
        method,
        { ...webhook, requestBody: undefined, parameters: [], responses: { 200: response } },
      ];
    });
    return [`/webhooks/${name}`, Object.fromEntries(asOperations)];
  });
  return { ...document, paths: { ...paths, ...(Object.fromEntries(asPaths) as object) } };
};
