import { HOSTILE_TEXTS, hostileBodies, hostileFields, numbered } from "./bodies.ts";
import type { Operation } from "./operations.ts";
import type { HostileRequest } from "./subject.ts";

interface HostileRequests {
  refused: HostileRequest[];
  /** Requests that the service may accept, because some operations allow them. */
  perhaps: HostileRequest[];
}

/** A well-formed id of an object that does not exist. */
const NOBODY = "01KA4YB0Q9X3M5N7P8R2S6T1VW";

/** Headers that services read although descriptions do not list them. */
const HEADERS = [
  "accept",
  "authorization",
  "content-encoding",
  "content-type",
  "cookie",
  "if-match",
  "traceparent",
  "tracestate",
  "x-platform-internal-token",
  "x-request-id",
];

/** Returns the hostile requests to an operation. Their bodies have at most `size` bytes. */
export function hostileRequests(operation: Operation, size: number): HostileRequests {
  const { method, path, query, fields } = operation;
  const at = filled(path, () => NOBODY);
  const takesBody = method !== "GET" && method !== "HEAD";
  const bodies = Object.entries(takesBody ? hostileBodies(size) : {});
  const values = Object.entries(takesBody && fields.length > 0 ? hostileFields(size) : {});
  const send = (name: string, request: Omit<Partial<HostileRequest>, "name">): HostileRequest => ({
    name: `${method} ${path}, ${name}`,
    method,
    path: at,
    ...request,
  });
  const texts = Object.entries(HOSTILE_TEXTS);
  const headers = new Set([...operation.headers.map((each) => each.toLowerCase()), ...HEADERS]);
  const params = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name);
  return {
    refused: [
      ...bodies.map(([name, body]) => send(name, { body })),
      ...(takesBody && fields.length > 0 ? [send("all fields wrong", { body: allWrong(fields, size) })] : []),
    ],
    perhaps: [
      ...values.flatMap(([name, value]) =>
        fields.map((field) => send(`${field} of ${name}`, { body: nestedIn(field, value) })),
      ),
      ...texts.flatMap(([name, text]) => [
        ...[...query, "params[x]"].map((param) =>
          send(`query ${param} of ${name}`, { path: `${at}?${param}=${text}` }),
        ),
        ...params.map((param) =>
          send(`{${param}} of ${name}`, { path: filled(path, (each) => (each === param ? text : NOBODY)) }),
        ),
        send(`all headers of ${name}`, {
          headers: Object.fromEntries([...headers].map((header) => [header, text.slice(0, 1_000)])),
        }),
      ]),
      ...[...headers].map((header) =>
        send(`header ${header}`, { headers: { [header]: ",;=".repeat(2_500) } }),
      ),
      send("thousands of parameters", {
        path: `${at}?${numbered(8_000, (n) => n.toString(36), "", "", "&")}`,
      }),
      send("one parameter often", { path: `${at}?${"limit=1&".repeat(1_000)}` }),
      send("thousands of segments", { path: `${at}${"/a".repeat(4_000)}` }),
    ],
  };
}

function filled(path: string, value: (param: string) => string): string {
  return path.replace(/\{(\w+)\}/g, (_, param) => value(param));
}

/** Returns an object with a value at a field path: `{"a":{"b":value}}` for the path `a.b`. */
function nestedIn(field: string, value: string | Uint8Array): string {
  return field.split(".").reduceRight((inner, name) => `{${JSON.stringify(name)}:${inner}}`, String(value));
}

/** Returns a body in which every field is a list, as long as `size` allows. */
function allWrong(fields: string[], size: number): string {
  const top = fields.filter((field) => !field.includes("."));
  const room = Math.floor(size / top.length) - 100;
  return `{${top.map((field) => numbered(room, () => "[]", `${JSON.stringify(field)}:[`, "]")).join(",")}}`;
}
