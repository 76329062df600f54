/** Tests that all OpenAPI descriptions follow the rules that client generators need (ER-20). */

import { describe, expect, test } from "bun:test";
import { isRecord } from "@ostiary/lib/domain/json";
import { lintProblems } from "../../support/http/description-lint.ts";
import {
  DocumentValidator,
  type OpenApiDocument,
  objectsIn,
  operationsIn,
  resolved,
  type Schema,
} from "../../support/http/openapi.ts";
import { servedDocuments } from "./served-descriptions.ts";

const documents = await servedDocuments();

const ULID_PATTERN = "^[0-7][0-9A-HJKMNP-TV-Z]{25}$";
/** The pattern that no text matches, for fields that accept no value. */
const NOTHING = "^[^\\s\\S]$";
const NUMBERS = ["limit", "rev", "other"];
const TIMES = ["occurred_after", "occurred_before", "created_after", "created_before", "from", "to"];
/** Ids that the audit service stores as it gets them, so they can have any format. */
const ANY_IDS = ["request_id", "created_id", "actor_member_id"];
const OWNER_IDS = ["organization_id", "user_id"];

const typesOf = ({ type }: Schema): unknown[] => (Array.isArray(type) ? type : [type]);

describe.each(Object.entries(documents))("the description of %s", (service, document) => {
  const isAudit = service.startsWith("audit");
  const objects = objectsIn(document);
  const operations = operationsIn(document);
  const parameters = operations.flatMap(({ operationId, path, parameters = [] }) =>
    parameters.map((parameter) => ({ ...parameter, operationId, path })),
  );
  const properties = objects.flatMap(({ pointer, value }) =>
    pointer.endsWith("/properties") ? [] : propertiesOf(pointer, value),
  );

  test("passes a linter's recommended rules with no error and no warning", async () => {
    expect(await lintProblems(JSON.stringify(document))).toEqual([]);
    // Check that the linter works: it must find errors in a broken description.
    expect(await lintProblems(JSON.stringify({ ...document, info: undefined }))).not.toEqual([]);
    expect(document.openapi).toBe("3.1.0");
  });

  test("every property has a description, and every scalar an example or its values", () => {
    const bare = properties.filter(({ schema }) => !resolved(document, schema).description);
    expect(bare.map(({ pointer }) => pointer)).toEqual([]);
    const unshown = properties.filter(({ schema }) => {
      const { $ref, examples, enum: values, anyOf, pattern } = schema;
      if (pattern === NOTHING) return false;
      const scalar = typesOf(schema).some((type) => ["string", "integer", "number"].includes(String(type)));
      return $ref === undefined && anyOf === undefined && scalar && !examples && !values;
    });
    expect(unshown.map(({ pointer }) => pointer)).toEqual([]);
  });

  test("number, id and time parameters have their types, and no other parameter is an unrestricted string", () => {
    for (const { operationId, path, name, schema } of parameters) {
      // The audit service accepts owner ids in any format, because it stores them as it gets them.
      if (isAudit && OWNER_IDS.includes(name)) continue;
      const kind = name === "starting_after" ? cursorKind(document, path) : name;
      expect<unknown>([operationId, name, schema]).toEqual([operationId, name, expectedType(kind, schema)]);
    }
  });

  test("ids and times in bodies have their formats", () => {
    for (const { pointer, name, schema } of properties) {
      if (name.endsWith("_at")) expect([pointer, schema.format]).toEqual([pointer, "date-time"]);
      if (isIdName(name) && !isAudit) expect([pointer, schema.pattern]).toEqual([pointer, ULID_PATTERN]);
    }
  });

  test("every object, body, page and choice is a named schema, and no two schemas are equal", () => {
    const inline = objects.filter(({ pointer, value }) => {
      const isShape = isRecord(value.properties) || (Array.isArray(value.anyOf) && !isNullable(value.anyOf));
      return isShape && !/^\/components\/schemas\/[A-Za-z]+$/.test(pointer);
    });
    expect(inline.map(({ pointer }) => pointer)).toEqual([]);
    for (const { operationId, requestBody, responses } of operations) {
      const media = [requestBody, ...Object.values(responses)].flatMap((body) =>
        Object.entries(body?.content ?? {}).filter(([type]) => type === "application/json"),
      );
      for (const [, { schema }] of media)
        expect([operationId, Object.keys(schema)]).toEqual([operationId, ["$ref"]]);
    }
    const texts = Object.entries(document.components.schemas).map(
      ([, { title: __, description: ___, ...rest }]) => rest,
    );
    const shapes = texts.filter(({ properties }) => isRecord(properties)).map((each) => JSON.stringify(each));
    const requests = Object.keys(document.components.schemas).filter((name) => name.endsWith("Request"));
    // Request schemas may be equal, because the requests of two operations can diverge later.
    expect(new Set(shapes).size).toBeGreaterThanOrEqual(shapes.length - requests.length);
  });

  test("every success in JSON has a complete example", () => {
    const validator = new DocumentValidator(document);
    for (const { operationId, responses } of operations) {
      for (const [status, { content }] of Object.entries(responses)) {
        const media = content?.["application/json"];
        if (media === undefined || Number(status) >= 300) continue;
        expect([operationId, validator.problems(media.schema, media.example)]).toEqual([operationId, []]);
        expect([operationId, JSON.stringify(media.example)]).not.toEqual([operationId, "{}"]);
      }
    }
  });

  test("operations have unique ids, known tags, and all errors that can occur", () => {
    const ids = operations.map(({ operationId }) => operationId);
    expect(new Set(ids).size).toBe(ids.length);
    for (const operation of operations) {
      const { operationId, summary, description, tags, requestBody, responses, security } = operation;
      expect(operationId).toMatch(/^[a-z][A-Za-z]+$/);
      expect([operationId, summary, description]).toEqual([
        operationId,
        expect.stringMatching(/\S/),
        expect.stringMatching(/\.$/),
      ]);
      expect(document.tags.map(({ name }) => name)).toContain(String(tags[0]));
      // An operation that needs no credential must need no store, so it never responds with 503.
      const needed = [
        ...["422", "500", ...(security?.length === 0 ? [] : ["503"])],
        ...(requestBody ? ["413"] : []),
      ];
      expect(Object.keys(responses)).toEqual(expect.arrayContaining(needed));
      for (const [status, { content, description }] of Object.entries(responses)) {
        expect(content === undefined).toBe(status === "204");
        expect(description).not.toBe("Done.");
      }
    }
    for (const { description } of parameters) expect(description).toMatch(/\S/);
    expect(JSON.stringify(document)).not.toMatch(/"(rule|response_headers|response_description)"/);
  });

  // ER-20
  test("every error response has an example of its own code and status, with details if the code has some", () => {
    const validator = new DocumentValidator(document);
    for (const { operationId, responses } of operations) {
      for (const [status, { content, description }] of Object.entries(responses)) {
        if (Number(status) < 400) continue;
        const { schema, examples = {} } = content?.["application/json"] ?? { schema: {} };
        const codes = [...description.matchAll(/^([A-Z_]+): /gm)].map(([, code = ""]) => code);
        expect(codes).not.toEqual([]);
        expect(Object.keys(examples)).toEqual(codes);
        for (const [code, { value }] of Object.entries(examples)) {
          expect(validator.problems(schema, value)).toEqual([]);
          const detailed = !(operationId === "mintSession" && code === "NOT_FOUND");
          expect([operationId, value]).toEqual([
            operationId,
            { error: expectedError(code, status, detailed) },
          ]);
        }
      }
    }
  });

  test("every example fits its schema", () => {
    const validator = new DocumentValidator(document);
    const wrong = objects.flatMap(({ pointer, value }) => {
      const schema = isRecord(value.schema) ? value.schema : value;
      const { examples } = value;
      const shown = [
        ...(Array.isArray(examples) && !pointer.endsWith("/properties") ? examples : []),
        ...(value.schema !== undefined && "example" in value ? [value.example] : []),
        ...(value.default === undefined ? [] : [value.default]),
      ];
      return shown.flatMap((example) =>
        validator.problems(schema, example).map((problem) => `${pointer}: ${problem}`),
      );
    });
    expect(wrong).toEqual([]);
  });

  test("a body is required if and only if an empty object is refused", () => {
    const validator = new DocumentValidator(document);
    for (const { operationId, requestBody } of operations) {
      if (requestBody === undefined) continue;
      const { schema } = requestBody.content["application/json"] ?? { schema: {} };
      const emptyIsRefused = validator.problems(schema, {}).length > 0;
      expect([operationId, requestBody.required]).toEqual([operationId, emptyIsRefused]);
    }
  });
});

interface Property {
  pointer: string;
  name: string;
  schema: Schema;
}

function propertiesOf(pointer: string, { properties }: Schema): Property[] {
  if (!isRecord(properties)) return [];
  return Object.entries(properties).map(([name, schema]) => ({
    pointer: `${pointer}/properties/${name}`,
    name,
    schema: isRecord(schema) ? schema : {},
  }));
}

function isIdName(name: string): boolean {
  return name === "starting_after" || (name.endsWith("_id") && !ANY_IDS.includes(name));
}

function expectedType(name: string, schema: Schema): unknown {
  if (NUMBERS.includes(name)) return expect.objectContaining({ type: "integer", minimum: 1 });
  if (TIMES.includes(name)) return expect.objectContaining({ type: "string", format: "date-time" });
  if (isIdName(name)) return expect.objectContaining({ type: "string", pattern: ULID_PATTERN });
  const { type, pattern, enum: values, maxLength } = schema;
  const isBare = type === "string" && !pattern && !values && !maxLength;
  return isBare ? "more than a string" : schema;
}

/** Returns the kind of a list's cursor: `starting_after` for an id, `rev` for a number, or `text`. */
function cursorKind(document: OpenApiDocument, path: string): string {
  const list = document.paths[path.replace(/\/export$/, "")]?.get;
  const page = resolved(document, list?.responses[200]?.content?.["application/json"]?.schema ?? {});
  const { items } = propertiesOf("", page).find(({ schema }) => schema.type === "array")?.schema ?? {};
  const fields = propertiesOf("", resolved(document, isRecord(items) ? items : {}));
  const key = fields.find(({ name }) => name === "id") ?? fields[0];
  if (key?.schema.type === "integer") return "rev";
  return key?.schema.pattern === ULID_PATTERN ? "starting_after" : "text";
}

function isNullable(choices: unknown[]): boolean {
  return choices.length === 2 && choices.some((each) => isRecord(each) && each.type === "null");
}

const DETAILS: Record<string, unknown> = {
  VALIDATION_ERROR: { fields: [{ path: expect.any(String), message: expect.stringMatching(/\.$/) }] },
  NOT_FOUND: expect.anything(),
  CONFLICT: expect.objectContaining({ field: expect.any(String) }),
  ROUTE_CONFLICT: { conflicts: [expect.objectContaining({ owner: "widgets" })] },
  ORGANIZATION_HANDOFF_REQUIRED: { organizations: [{ id: expect.any(String), name: expect.any(String) }] },
  PRECONDITION_FAILED: { current_revision: 4 },
  FORBIDDEN: { operator: "team-widgets", missing: [{ service: "billing" }] },
  PAYLOAD_TOO_LARGE: { max_size_bytes: expect.any(Number) },
  RATE_LIMITED: { retry_after_seconds: 10 },
};

/** @param detailed whether the example has details; false for the 404 of a session, which reveals nothing */
function expectedError(code: string, status: string, detailed: boolean) {
  const later = status === "429" || Number(status) >= 500;
  return {
    type: later ? "api_error" : "invalid_request_error",
    code,
    message: expect.stringMatching(/\.$/),
    request_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    details: (detailed && DETAILS[code]) || null,
  };
}
