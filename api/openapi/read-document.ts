/** A schema of the document: the parts of JSON Schema that createOpenApi writes. */
export interface Schema {
  $ref?: string;
  type?: string | string[];
  description?: string;
  format?: string;
  enum?: unknown[];
  const?: unknown;
  pattern?: string;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  default?: unknown;
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
}

type Examples = Record<string, { value: unknown }>;
type Content = Record<string, { schema?: Schema; examples?: Examples }>;

interface OperationObject {
  operationId: string;
  tags?: string[];
  summary: string;
  description: string;
  security?: object[];
  parameters?: {
    name: string;
    in: string;
    required?: boolean;
    schema?: Schema;
    description?: string;
  }[];
  requestBody?: { description?: string; content: Content };
  responses: Record<string, { description: string; content?: Content }>;
}

/** The document, as createOpenApi makes it. */
export interface OpenApi {
  info: { title: string; version: string; description: string };
  servers: { url: string }[];
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, OperationObject>>;
  webhooks: Record<string, Record<string, OperationObject>>;
  components: { schemas: Record<string, Schema> };
}

const valuesOf = (examples: Examples = {}): Record<string, unknown> =>
  Object.fromEntries(Object.entries(examples).map(([name, { value }]) => [name, value]));

const readContent = (content: Content = {}) => {
  const { schema, examples } = content['application/json'] ?? Object.values(content)[0] ?? {};
  return { schema, examples: valuesOf(examples) };
};

/** Every operation and webhook, in the order of the document. */
export const operationsOf = ({ paths, webhooks }: OpenApi) =>
  [
    ...Object.entries(paths).flatMap(([path, methods]) => [{ path, methods, isWebhook: false }]),
    ...Object.values(webhooks).map((methods) => ({
      path: 'your webhook URL',
      methods,
      isWebhook: true,
    })),
  ].flatMap(({ path, methods, isWebhook }) =>
    Object.entries(methods).map(([method, operation]) => ({
      id: operation.operationId,
      tag: isWebhook ? 'Webhooks' : operation.tags?.[0],
      ...{ path, method: method.toUpperCase() },
      summary: operation.summary,
      description: operation.description,
      needsToken: (operation.security ?? []).length > 0,
      parameters: (operation.parameters ?? []).map((parameter) => ({
        name: parameter.name,
        place: parameter.in,
        required: parameter.required ?? false,
        schema: { ...parameter.schema, description: '' },
        text: parameter.description ?? parameter.schema?.description ?? '',
      })),
      body: operation.requestBody && {
        text: operation.requestBody.description ?? '',
        ...readContent(operation.requestBody.content),
        schema: readContent(operation.requestBody.content).schema ?? {},
      },
      responses: Object.entries(operation.responses).map(([status, response]) => ({
        status,
        text: response.description,
        ...readContent(response.content),
      })),
    })),
  );
