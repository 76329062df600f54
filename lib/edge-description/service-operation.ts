import { AUDIT_HEADERS } from "../contracts/audit/index.ts";
import { isRecord } from "../domain/json/index.ts";
import { type JsonObject, sampleOf } from "../openapi/index.ts";
import { ENVELOPE_FIELDS, ERROR_SCHEMA } from "./gateway-errors.ts";
import type { FoundOperation, ServiceDescription } from "./service-description.ts";
import type { ServiceSchemas } from "./service-schemas.ts";
import { VALUE_COST, type WorkBudget } from "./work-budget.ts";

export interface ServiceOperation {
  readonly summary: string | undefined;
  readonly description: string | undefined;
  readonly deprecated: boolean;
  /** The path parameters by the names of the route's params. */
  readonly pathParams: ReadonlyMap<string, JsonObject>;
  /** The parameters in the query, headers and cookies. */
  readonly parameters: readonly JsonObject[];
  readonly body: JsonObject | null;
  /** A sample of the body, in the first media type that the operation accepts. */
  readonly bodySample: { type: string; value: unknown } | null;
  /** The responses by status. A status can also be a range such as `4XX`, or `default`. */
  readonly responses: ReadonlyMap<string, ServiceResponse>;
}

export interface ServiceResponse {
  readonly description: string;
  readonly headers: JsonObject;
  readonly content: JsonObject;
}

/** Request headers that are left out: the gateway reads, sets or removes them, or they are no OpenAPI parameters. */
const REQUEST_HEADERS = new Set<string>([
  "authorization",
  "x-api-key",
  "x-request-id",
  "traceparent",
  "tracestate",
  "host",
  "connection",
  "accept",
  "content-type",
  "x-platform-internal-token",
  ...AUDIT_HEADERS,
]);
/** Response headers that are left out: the gateway sets, replaces or strips them. */
const RESPONSE_HEADERS = new Set<string>([
  "x-request-id",
  "content-type",
  "connection",
  "transfer-encoding",
  "x-content-type-options",
  "x-frame-options",
  "referrer-policy",
  ...AUDIT_HEADERS,
]);
const STATUS = /^([1-5][0-9][0-9]|[1-5]XX|default)$/;
const MEDIA_TYPE = /^[A-Za-z0-9!#$&^_.+*-]+\/[A-Za-z0-9!#$&^_.+*-]+( *;.*)?$/;
/** The cost of copying a parameter or header, in addition to the cost of its contents. */
const PARAMETER_COST = 8 * VALUE_COST;
const STYLES: Readonly<Record<string, readonly string[]>> = {
  path: ["simple", "label", "matrix"],
  query: ["form", "spaceDelimited", "pipeDelimited", "deepObject"],
  header: ["simple"],
  cookie: ["form"],
};

export class OperationReader {
  readonly #description: ServiceDescription;
  readonly #schemas: ServiceSchemas;
  readonly #work: WorkBudget;

  constructor(description: ServiceDescription, schemas: ServiceSchemas, work: WorkBudget) {
    this.#description = description;
    this.#schemas = schemas;
    this.#work = work;
  }

  read({ operation, shared, params }: FoundOperation): ServiceOperation {
    const parameters = this.#parameters(shared, operation.parameters);
    const pathParams = parameters.flatMap((each) => {
      const name = each.in === "path" ? params.get(String(each.name)) : undefined;
      return typeof name === "string" ? [[name, this.#parameter(each, "path")] as const] : [];
    });
    return {
      summary: this.#work.text(operation.summary),
      description: this.#work.text(operation.description),
      deprecated: operation.deprecated === true,
      pathParams: new Map(pathParams),
      parameters: parameters.filter(isSentByClients).map((each) => ({
        name: each.name,
        in: each.in,
        ...(each.required === true && { required: true }),
        ...this.#parameter(each, String(each.in)),
      })),
      body: this.#body(operation.requestBody),
      bodySample: this.#bodySample(operation.requestBody),
      responses: new Map(this.#responses(operation.responses)),
    };
  }

  #resolve(value: unknown): JsonObject | null {
    return this.#description.resolve(value, this.#work);
  }

  #described({ description }: JsonObject): JsonObject {
    const text = this.#work.text(description);
    return text === undefined ? {} : { description: text };
  }

  /** Merges lists of parameters. A later one replaces an earlier one with the same name and location. */
  #parameters(...lists: unknown[]): JsonObject[] {
    const parameters = new Map<string, JsonObject>();
    for (const each of lists.flatMap((list) => this.#work.items(list))) {
      const parameter = this.#resolve(each);
      const name = this.#work.text(parameter?.name);
      if (parameter === null || name === undefined || !isPlace(parameter.in)) continue;
      parameters.set(`${parameter.in} ${name}`, parameter);
    }
    return [...parameters.values()];
  }

  /** Copies a parameter or header without `name` and `in`. */
  #parameter(parameter: JsonObject, place: string): JsonObject {
    this.#work.spend(PARAMETER_COST);
    const { deprecated, style, explode, allowReserved, content } = parameter;
    const copied = {
      ...this.#described(parameter),
      ...(deprecated === true && { deprecated }),
      ...this.#examples(parameter),
    };
    const media = Object.entries(this.#content(content)).slice(0, 1);
    if (media.length > 0) return { ...copied, content: Object.fromEntries(media) };
    const isStyle = typeof style === "string" && STYLES[place]?.includes(style);
    return {
      ...copied,
      ...(isStyle && { style }),
      ...(typeof explode === "boolean" && { explode }),
      ...(typeof allowReserved === "boolean" && place === "query" && { allowReserved }),
      schema: this.#schemas.convert(parameter.schema),
    };
  }

  #body(value: unknown): JsonObject | null {
    const body = this.#resolve(value);
    const content = this.#content(body?.content);
    if (body === null || Object.keys(content).length === 0) return null;
    return { ...this.#described(body), ...(body.required === true && { required: true }), content };
  }

  #bodySample(value: unknown): ServiceOperation["bodySample"] {
    const [first] = this.#work.entries(this.#resolve(value)?.content);
    if (first === undefined || !MEDIA_TYPE.test(first[0]) || !isRecord(first[1])) return null;
    const [type, media] = first;
    const { example, examples } = this.#examples(media);
    const [shown] = isRecord(examples) ? Object.values(examples) : [];
    const given = example ?? (isRecord(shown) ? shown.value : undefined);
    if (given !== undefined) return { type, value: given };
    const made = sampleOf(
      media.schema,
      (ref) => this.#description.at(ref, this.#work),
      (properties) => this.#work.entries(properties),
    );
    return this.#work.isData(made) ? { type, value: made } : null;
  }

  #responses(value: unknown): [string, ServiceResponse][] {
    return this.#work.entries(value).flatMap(([status, given]) => {
      const response = STATUS.test(status) ? this.#resolve(given) : null;
      if (response === null) return [];
      const description = this.#work.text(response.description) ?? "";
      const content = this.#content(response.content, isError(status));
      return [[status, { description, headers: this.#headers(response), content }]];
    });
  }

  #headers({ headers }: JsonObject): JsonObject {
    const entries = this.#work.entries(headers).flatMap(([name, given]) => {
      const header = this.#resolve(given);
      if (header === null || !isHeaderName(name) || RESPONSE_HEADERS.has(name.toLowerCase())) return [];
      if (/^(x-ratelimit-|access-control-)/i.test(name)) return [];
      return [[name, this.#parameter(header, "header")]];
    });
    return Object.fromEntries(entries);
  }

  #content(value: unknown, ofError = false): JsonObject {
    const media = this.#work.records(value).filter(([type]) => MEDIA_TYPE.test(type));
    return Object.fromEntries(media.map(([type, each]) => [type, this.#media(each, ofError)]));
  }

  #media(media: JsonObject, ofError: boolean): JsonObject {
    const { schema } = media;
    // All errors in the platform's format refer to one shared schema.
    const isOurs = ofError && this.#isEnvelope(schema);
    return {
      ...(schema !== undefined && { schema: isOurs ? ERROR_SCHEMA : this.#schemas.convert(schema) }),
      ...this.#examples(media),
    };
  }

  /** Returns whether a schema has the fields of the platform's error format, whatever its `details` are. */
  #isEnvelope(schema: unknown): boolean {
    const properties = (value: unknown) => this.#resolve(this.#resolve(value)?.properties);
    const fields = this.#work.entries(properties(properties(schema)?.error));
    return fields.length === ENVELOPE_FIELDS.size && fields.every(([name]) => ENVELOPE_FIELDS.has(name));
  }

  /** Copies `example`, or else `examples`. OpenAPI does not allow both. */
  #examples({ example, examples }: JsonObject): JsonObject {
    if (example !== undefined && this.#work.isData(example)) return { example };
    const shown = this.#work.entries(examples).flatMap(([name, given]) => {
      const each = this.#resolve(given);
      if (each?.value === undefined || !this.#work.isData(each.value)) return [];
      const summary = this.#work.text(each.summary);
      const copied = {
        ...(summary !== undefined && { summary }),
        ...this.#described(each),
        value: each.value,
      };
      return [[name, copied] as const];
    });
    return shown.length === 0 ? {} : { examples: Object.fromEntries(shown) };
  }
}

function isPlace(place: unknown): boolean {
  return typeof place === "string" && Object.hasOwn(STYLES, place);
}

function isSentByClients({ in: place, name }: JsonObject): boolean {
  if (typeof name !== "string") return false;
  if (place === "header") return isHeaderName(name) && !REQUEST_HEADERS.has(name.toLowerCase());
  return place === "query" || place === "cookie";
}

function isError(status: string): boolean {
  return /^[45]/.test(status);
}

function isHeaderName(name: string): boolean {
  return /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/.test(name);
}
