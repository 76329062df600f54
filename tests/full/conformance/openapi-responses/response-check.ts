import { expect } from "bun:test";
import { sampleOf } from "@ostiary/lib/openapi";
import {
  DocumentValidator,
  type OpenApiDocument,
  type Operation,
  operationsIn,
  type PlacedOperation,
  resolved,
} from "../../../support/http/openapi.ts";

export const BROKEN_QUERY = "?verbose=1";

interface CheckedResponse {
  status: number;
  headers: Headers;
  /** The parsed JSON, or the text of another content type, or null for an empty body. */
  body: unknown;
}

/** Checks a service's responses against its description, and records which responses have occurred. */
export class ResponseCheck {
  /** The operation id and status of each response so far, such as `getUser 200`. */
  readonly #seen = new Set<string>();
  readonly #operations: PlacedOperation[];
  readonly #validator: DocumentValidator;

  constructor(document: OpenApiDocument) {
    this.#operations = operationsIn(document);
    this.#validator = new DocumentValidator(document);
  }

  /** Returns each difference between a response and the description. The list is empty when they match. */
  #problems(method: string, target: string, { status, headers, body }: CheckedResponse): string[] {
    const path = target.replace(/\?.*$/s, "");
    const operation = this.#operations.find((each) => each.method === method && isAt(each.path, path));
    if (operation === undefined) return [`${method} ${path} is no operation`];
    const name = `${operation.operationId} ${status}`;
    this.#seen.add(name);
    const response = operation.responses[status];
    if (response === undefined) return [`${name} is not documented`];
    const type = headers.get("content-type")?.split(";")[0] ?? "";
    const media = response.content?.[type];
    if (response.content === undefined ? body !== null : media === undefined) return [`${name} has ${type}`];
    const wrongHeaders = Object.entries(response.headers ?? {}).flatMap(([header, { schema }]) => {
      const value = headers.get(header);
      if (value === null) return [];
      return this.#validator.problems(schema, schema.type === "integer" ? Number(value) : value);
    });
    const wrong = media === undefined ? [] : this.#validator.problems(media.schema, body);
    return [...wrongHeaders, ...wrong].map((problem) => `${name}: ${problem}`);
  }

  expectDescribed<Found extends CheckedResponse>(method: string, path: string, found: Found): Found {
    const problems = this.#problems(method, path, found);
    expect({ method, path, problems }).toEqual({ method, path, problems: [] });
    return found;
  }

  /** Returns the documented responses with 2xx, 404, 409 and 412 that have not occurred yet. */
  unseen(): string[] {
    return this.#operations.flatMap(({ operationId, responses }) =>
      Object.keys(responses)
        .filter(
          (status) =>
            (Number(status) < 300 || ["404", "409", "412"].includes(status)) &&
            !this.#seen.has(`${operationId} ${status}`),
        )
        .map((status) => `${operationId} ${status}`),
    );
  }
}

function isAt(template: string, path: string): boolean {
  const [parts, segments] = [template.split("/"), path.split("/")];
  return (
    parts.length === segments.length &&
    parts.every((part, index) => part.startsWith("{") || part === segments[index])
  );
}

/** Returns each described response that a condition selects, in the form of `ResponseCheck.unseen`. */
export function responsesOf(
  document: OpenApiDocument,
  ...conditions: ((status: string, operation: PlacedOperation) => boolean)[]
): string[] {
  return operationsIn(document).flatMap((operation) =>
    Object.keys(operation.responses)
      .filter((status) => conditions.some((holds) => holds(status, operation)))
      .map((status) => `${operation.operationId} ${status}`),
  );
}

/** Returns a sample of an operation's JSON body, or undefined if the operation has no body. */
export function exampleOf(document: OpenApiDocument, body: Operation["requestBody"]): unknown {
  if (body === undefined) return undefined;
  return sampleOf(body.content["application/json"]?.schema, ($ref) => resolved(document, { $ref }));
}
