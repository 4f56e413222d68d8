/** The parts of an OpenAPI document that tests read. */
export interface OpenApiDocument {
  info: { description: string };
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
}

export interface Operation {
  operationId?: string;
  parameters?: Parameter[];
  requestBody?: { content: Record<string, { schema?: Schema }> };
  responses?: Record<string, { links?: Record<string, Link> }>;
}

interface Parameter {
  name: string;
  in: string;
  required?: boolean;
  schema?: Schema;
}

interface Link {
  operationId: string;
  parameters: Record<string, string>;
}

export interface Schema {
  $ref?: string;
  type?: string | string[];
  enum?: unknown[];
  pattern?: string;
  format?: string;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  properties?: Record<string, Schema>;
  required?: string[];
  anyOf?: Schema[];
}

/** Follows a `$ref` to its schema; returns any other schema unchanged. */
export type Resolve = (schema: Schema) => Schema;

export const createResolve =
  ({ components }: Pick<OpenApiDocument, 'components'>): Resolve =>
  (schema) =>
    schema.$ref ? (components.schemas[schema.$ref.split('/').at(-1) ?? ''] ?? {}) : schema;
