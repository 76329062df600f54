import { AUDIT_HEADERS } from "@ostiary/lib/contracts/audit";
import { isRecord } from "@ostiary/lib/domain/json";
import { type JsonObject, sampleOf } from "@ostiary/lib/runtime/http";
import { ERROR_SCHEMA, isEnvelope } from "./gateway-errors.ts";
import type { FoundOperation, ServiceDocument } from "./service-document.ts";
import { holdsReference, type ServiceSchemas } from "./service-schemas.ts";

/** What a service's document says of an operation, in words of the edge's. */
export interface ServiceOperation {
  readonly summary: string | undefined;
  readonly description: string | undefined;
  readonly deprecated: boolean;
  /** Those of the path by the name of the route's param. */
  readonly path_params: ReadonlyMap<string, JsonObject>;
  /** Of the query, headers and cookies. */
  readonly parameters: readonly JsonObject[];
  readonly body: JsonObject | null;
  /** What a call may send, of the first type that it takes. */
  readonly body_sample: { type: string; value: unknown } | null;
  /** By status: `200`, `4XX` or `default`. */
  readonly responses: ReadonlyMap<string, ServiceResponse>;
}

export interface ServiceResponse {
  readonly description: string;
  readonly headers: JsonObject;
  readonly content: JsonObject;
}

/** Request headers that the gateway reads, sets or removes, or that OpenAPI gives another place. */
const REQUEST_HEADERS = new Set<string>([
  ...["authorization", "x-api-key", "x-request-id", "traceparent", "tracestate", "host", "connection"],
  ...["accept", "content-type", "x-platform-internal-token"],
  ...AUDIT_HEADERS,
]);
/** Response headers that the gateway sets, replaces or strips. */
const RESPONSE_HEADERS = new Set<string>([
  ...["x-request-id", "content-type", "connection", "transfer-encoding"],
  ...["x-content-type-options", "x-frame-options", "referrer-policy"],
  ...AUDIT_HEADERS,
]);
const STATUS = /^([1-5][0-9][0-9]|[1-5]XX|default)$/;
const MEDIA_TYPE = /^[A-Za-z0-9!#$&^_.+*-]+\/[A-Za-z0-9!#$&^_.+*-]+( *;.*)?$/;
const STYLES: Readonly<Record<string, readonly string[]>> = {
  path: ["simple", "label", "matrix"],
  query: ["form", "spaceDelimited", "pipeDelimited", "deepObject"],
  header: ["simple"],
  cookie: ["form"],
};

/** Takes one operation over, with what it refers to. */
export class OperationReader {
  readonly #document: ServiceDocument;
  readonly #schemas: ServiceSchemas;

  constructor(document: ServiceDocument, schemas: ServiceSchemas) {
    this.#document = document;
    this.#schemas = schemas;
  }

  read({ operation, parameters, params }: FoundOperation): ServiceOperation {
    const path_params = parameters.flatMap((each) => {
      const name = each.in === "path" && typeof each.name === "string" ? params.get(each.name) : undefined;
      return typeof name === "string" ? [[name, this.#parameter(each, "path")] as const] : [];
    });
    return {
      summary: text(operation.summary),
      description: text(operation.description),
      deprecated: operation.deprecated === true,
      path_params: new Map(path_params),
      parameters: parameters.filter(isSentByClients).map((each) => ({
        name: each.name,
        in: each.in,
        ...(each.required === true && { required: true }),
        ...this.#parameter(each, String(each.in)),
      })),
      body: this.#body(operation.requestBody),
      body_sample: this.#bodySample(operation.requestBody),
      responses: new Map(this.#responses(operation.responses)),
    };
  }

  /** All but its name and place. */
  #parameter(parameter: JsonObject, place: string): JsonObject {
    const { description, deprecated, style, explode, allowReserved, content } = parameter;
    const said = {
      ...(text(description) !== undefined && { description }),
      ...(deprecated === true && { deprecated }),
      ...this.#examples(parameter),
    };
    const media = Object.entries(this.#content(content)).slice(0, 1);
    if (media.length > 0) return { ...said, content: Object.fromEntries(media) };
    const isStyle = typeof style === "string" && STYLES[place]?.includes(style);
    return {
      ...said,
      ...(isStyle && { style }),
      ...(typeof explode === "boolean" && { explode }),
      ...(typeof allowReserved === "boolean" && place === "query" && { allowReserved }),
      schema: this.#schemas.convert(parameter.schema),
    };
  }

  #body(value: unknown): JsonObject | null {
    const body = this.#document.resolve(value);
    const content = this.#content(body?.content);
    if (body === null || Object.keys(content).length === 0) return null;
    const { description, required } = body;
    return {
      ...(text(description) !== undefined && { description }),
      ...(required === true && { required }),
      content,
    };
  }

  #bodySample(value: unknown): ServiceOperation["body_sample"] {
    const content = this.#document.resolve(value)?.content;
    const [first] = isRecord(content) ? Object.entries(content) : [];
    if (first === undefined || !MEDIA_TYPE.test(first[0]) || !isRecord(first[1])) return null;
    const [type, media] = first;
    const { example, examples } = this.#examples(media);
    const [shown] = isRecord(examples) ? Object.values(examples) : [];
    const given = example ?? (isRecord(shown) ? shown.value : undefined);
    return { type, value: given ?? sampleOf(media.schema, (ref) => this.#document.at(ref)) };
  }

  #responses(value: unknown): [string, ServiceResponse][] {
    if (!isRecord(value)) return [];
    return Object.entries(value).flatMap(([status, given]) => {
      const response = STATUS.test(status) ? this.#document.resolve(given) : null;
      if (response === null) return [];
      const description = text(response.description) ?? "";
      const content = this.#content(response.content, isError(status));
      return [[status, { description, headers: this.#headers(response), content }]];
    });
  }

  #headers({ headers }: JsonObject): JsonObject {
    if (!isRecord(headers)) return {};
    const entries = Object.entries(headers).flatMap(([name, given]) => {
      const header = this.#document.resolve(given);
      if (header === null || !isHeaderName(name) || RESPONSE_HEADERS.has(name.toLowerCase())) return [];
      if (/^(x-ratelimit-|access-control-)/i.test(name)) return [];
      return [[name, this.#parameter(header, "header")]];
    });
    return Object.fromEntries(entries);
  }

  #content(value: unknown, of_error = false): JsonObject {
    if (!isRecord(value)) return {};
    const entries = Object.entries(value).filter(([type, media]) => MEDIA_TYPE.test(type) && isRecord(media));
    return Object.fromEntries(
      entries.map(([type, media]) => [type, this.#media(isRecord(media) ? media : {}, of_error)]),
    );
  }

  #media(media: JsonObject, of_error: boolean): JsonObject {
    const { schema } = media;
    // services of the platform answer errors as the gateway does: readers learn one form
    const isOurs = of_error && isEnvelope(schema, (value) => this.#document.resolve(value));
    return {
      ...(schema !== undefined && { schema: isOurs ? ERROR_SCHEMA : this.#schemas.convert(schema) }),
      ...this.#examples(media),
    };
  }

  /** `example` or `examples`, never both. */
  #examples({ example, examples }: JsonObject): JsonObject {
    if (example !== undefined && !holdsReference(example)) return { example };
    if (!isRecord(examples)) return {};
    const shown = Object.entries(examples).flatMap(([name, given]) => {
      const each = this.#document.resolve(given);
      if (each?.value === undefined || holdsReference(each.value)) return [];
      const { summary, description, value } = each;
      return [
        [
          name,
          {
            ...(text(summary) !== undefined && { summary }),
            ...(text(description) !== undefined && { description }),
            value,
          },
        ] as const,
      ];
    });
    return shown.length === 0 ? {} : { examples: Object.fromEntries(shown) };
  }
}

function isSentByClients({ in: place, name }: JsonObject): boolean {
  if (typeof name !== "string" || name === "") return false;
  if (place === "header") return isHeaderName(name) && !REQUEST_HEADERS.has(name.toLowerCase());
  return place === "query" || place === "cookie";
}

function isError(status: string): boolean {
  return /^[45]/.test(status);
}

function isHeaderName(name: string): boolean {
  return /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/.test(name);
}

function text(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}
