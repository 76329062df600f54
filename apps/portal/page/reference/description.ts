import { User } from "@ostiary/lib/contracts/identity-api";
import { isRecord } from "@ostiary/lib/domain/json";
import { type JsonObject, sampleOf, valueAt } from "@ostiary/lib/openapi";
import { failed, type Result, succeeded } from "@ostiary/lib/page/failure";
import { Type } from "@sinclair/typebox";
import { type Caller, type Gateway, pathTo } from "../gateway.ts";

/** The maximum number of operations that the page reads from a description. */
const OPERATIONS_MAX = 10_000;
const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"] as const;
type Method = (typeof METHODS)[number];

/** The credential that an operation requires, by its scope. */
const CALLERS: ReadonlyMap<unknown, Caller> = new Map([
  ["public", "nobody"],
  ["user", "person"],
  ["organization", "member"],
  ["member", "member"],
]);

export interface Operation {
  readonly id: string;
  readonly method: Method;
  /** The path with its params, such as `/org/members/{member_id}`. */
  readonly path: string;
  readonly summary: string;
  readonly group: string;
  readonly caller: Caller;
  /** The required labels: the member's role must grant at least one. Null if no label is required. */
  readonly labels: readonly string[] | null;
  readonly deprecated: boolean;
  readonly source: JsonObject;
}

/** The part of the edge description that the page shows. */
export interface Description {
  readonly operations: readonly Operation[];
  /** The number of operations that the page cannot show. */
  readonly leftOut: number;
  /** Returns the schema that a `$ref` names, or undefined. */
  lookUp(ref: string): unknown;
}

/** Returns null if the value is not a description. */
export function readDescription(source: unknown): Description | null {
  if (!isRecord(source) || !isRecord(source.paths)) return null;
  const operations = new Map<string, Operation>();
  let leftOut = 0;
  for (const [path, item] of Object.entries(source.paths)) {
    for (const [method, operation] of Object.entries(isRecord(item) ? item : {})) {
      const read = operations.size < OPERATIONS_MAX ? operationOf(path, method, operation) : null;
      if (read === null || operations.has(read.id)) leftOut += 1;
      else operations.set(read.id, read);
    }
  }
  return { operations: [...operations.values()], leftOut, lookUp: (ref) => valueAt(source, ref) };
}

function operationOf(path: string, name: string, source: unknown): Operation | null {
  const method = METHODS.find((each) => each.toLowerCase() === name);
  if (method === undefined || !isPath(path) || !isRecord(source)) return null;
  const caller = CALLERS.get(source["x-scope"]);
  const id = textOf(source.operationId);
  if (caller === undefined || id === "") return null;
  const labels = source["x-required-labels"];
  return {
    id,
    method,
    path,
    summary: textOf(source.summary) || `${method} ${path}`,
    group: textOf(Array.isArray(source.tags) ? source.tags[0] : undefined),
    caller,
    labels: Array.isArray(labels) ? labels.map(textOf) : null,
    deprecated: source.deprecated === true,
    source,
  };
}

/** Returns whether a URL path stays at the page's origin, and the browser changes no segment of the path. */
function isPath(path: string): boolean {
  return /^\/(?!\/)[^\\?#\s]*$/.test(path) && !/\/(?:\.|%2e){1,2}(?:\/|$)/i.test(path);
}

/** Returns an empty string if the value is not a string. */
export function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

const MARKED = /\*\*([^*\n]+)\*\*|`([^`\n]+)`|\[([^\]\n]+)\]\([^)\s]*\)/g;

/** Returns a text of a description without the marks of Markdown's emphasis, code and links. */
export function plainOf(text: string): string {
  return text.replace(MARKED, "$1$2$3");
}

/** Returns whether the reader may call the operation. The page only hides operations; the gateway decides. */
export function isGranted({ labels }: Operation, reader: { may(label: string): boolean }): boolean {
  return labels === null || labels.some((label) => reader.may(label));
}

/** The tags of Ostiary's own operations, below the paths that its catalogs publish. */
const OWN_TAGS = new Set([
  "API keys",
  "Audit events",
  "Invites",
  "Members",
  "Organizations",
  "Roles",
  "Service accounts",
  "Sessions",
  "Streams",
  "Usage",
  "Users",
]);
const OWN_PATH = /^\/(?:user|org|member)(?:\/|$)/;
/** The paths of what makes the pages and proofs work. */
const PLUMBING = /^\/(?:audit-log|edge|portal)(?:\/|$)/;

/** Returns the rank of an operation: first the services that the organization came for, last the plumbing. */
function rankOf({ path, group }: Operation): number {
  if (PLUMBING.test(path)) return 2;
  return OWN_PATH.test(path) && OWN_TAGS.has(group) ? 1 : 0;
}

/** Groups operations by tag, in the order in which a customer needs them. Each key ends with the tag. */
export function groupsOf(operations: readonly Operation[]): [key: string, operations: Operation[]][] {
  const keyOf = (operation: Operation) =>
    `${rankOf(operation)}${operation.group === "" ? 1 : 0}${operation.group}`;
  return [...Map.groupBy(operations, keyOf)].toSorted(([one], [other]) => (one < other ? -1 : 1));
}

export interface Parameter {
  /** The key of the value that a person enters: the place and the name. */
  readonly key: string;
  readonly name: string;
  readonly place: "path" | "query" | "header";
  readonly required: boolean;
  readonly description: string;
  /** An example value. Empty if the description has none. */
  readonly example: string;
}

/** The request headers that a person cannot enter, because the page or the browser sets them. */
const OWN_HEADERS = /^(?:accept|authorization|content-type|cookie|host|x-api-key|proxy-.*|sec-.*)$/i;

/** Returns the parameters of an operation, including params of the path that the description omits. */
export function parametersOf({ path, source }: Operation): Parameter[] {
  const listed = Array.isArray(source.parameters) ? source.parameters : [];
  const described = listed.flatMap((each) => parameterOf(each) ?? []);
  const ofPath = [...path.matchAll(/\{([^{}]+)\}/g)].flatMap(([, name]) => {
    const found = described.find((each) => each.place === "path" && each.name === name);
    return found ?? parameterOf({ name, in: "path" }) ?? [];
  });
  return [...ofPath, ...described.filter(({ place }) => place !== "path")];
}

function parameterOf(value: unknown): Parameter | null {
  if (!isRecord(value)) return null;
  const name = textOf(value.name);
  const place = value.in;
  if (name === "" || (place !== "path" && place !== "query" && place !== "header")) return null;
  if (place === "header" && (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name) || OWN_HEADERS.test(name)))
    return null;
  return {
    key: `${place} ${name}`,
    name,
    place,
    required: place === "path" || value.required === true,
    description: textOf(value.description),
    example: exampleOf(value),
  };
}

function exampleOf(parameter: JsonObject): string {
  const { schema } = parameter;
  const [inSchema] = isRecord(schema) && Array.isArray(schema.examples) ? schema.examples : [];
  const found = givenExample(parameter) ?? inSchema;
  return typeof found === "string" || typeof found === "number" ? textOf(String(found)) : "";
}

/** Returns the example of a parameter or body, or the first of several. */
function givenExample({ example, examples }: JsonObject): unknown {
  const [first] = isRecord(examples) ? Object.values(examples) : [];
  return example ?? (isRecord(first) ? first.value : undefined);
}

export interface BodyShape {
  readonly type: string;
  readonly required: boolean;
  /** A sample body that prefills the form. Empty if there is no sample. */
  readonly sample: string;
}

const JSON_TYPE = "application/json";
/** Matches media types whose bodies people cannot enter as text. */
const NO_TEXT = /^(?:multipart\/|image\/|audio\/|video\/)/i;

export function bodyOf(operation: Operation, lookUp: Description["lookUp"]): BodyShape | "file" | null {
  const { requestBody: body } = operation.source;
  if (!isRecord(body) || operation.method === "GET" || operation.method === "HEAD") return null;
  const types = isRecord(body.content) ? Object.keys(body.content) : [];
  const [chosen] = [...types.filter(isJson), ...types.filter((type) => !NO_TEXT.test(type))];
  if (chosen === undefined) return types.length === 0 ? null : "file";
  const type = /^[\w.+-]+\/[\w.+-]+/.exec(chosen)?.[0] ?? JSON_TYPE;
  const media = isRecord(body.content) ? body.content[chosen] : undefined;
  return { type, required: body.required === true, sample: sampleOfMedia(media, type, lookUp) };
}

export function isJson(type: string): boolean {
  return /^[^;]*[/+]json\b/i.test(type);
}

function sampleOfMedia(media: unknown, type: string, lookUp: Description["lookUp"]): string {
  if (!isRecord(media)) return "";
  const value =
    givenExample(media) ?? (media.schema === undefined ? undefined : sampleOf(media.schema, lookUp));
  if (value === undefined) return "";
  return isJson(type) ? JSON.stringify(value, null, 2) : textOf(value);
}

const DESCRIPTION_PATH = "/edge/openapi.json";

/**
 * Fetches and parses the edge description. Fails with `forbidden` if only operators may read the description:
 * the registry then refuses the person's credential, although the gateway accepts it for other calls.
 */
export async function fetchDescription(gateway: Gateway): Promise<Result<Description>> {
  const result = await gateway.send(Type.Unknown(), DESCRIPTION_PATH);
  if (result.ok) {
    const description = readDescription(result.value);
    return description === null ? failed("unexpected") : succeeded(description);
  }
  if (result.failure.kind !== "signed_out") return result;
  const person = await gateway.send(User, pathTo("user"));
  return person.ok ? failed("forbidden", { status: result.failure.status }) : result;
}
