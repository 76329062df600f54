import { isRecord } from "../domain/json/index.ts";
import { sampleOf } from "./schema-samples.ts";
import type { JsonObject } from "./schemas.ts";

/** An environment variable, whose value the shell inserts into a command. */
export interface ShellVariable {
  readonly variable: string;
}

/** The header that authenticates the caller: `Authorization: Bearer $TOKEN`, or a key such as `X-API-Key: $API_KEY`. */
export interface CredentialHeader extends ShellVariable {
  readonly name: string;
  readonly isBearer?: boolean;
}

interface CurlRequest {
  readonly method: string;
  readonly origin: string | ShellVariable;
  readonly target: string;
  readonly credential: CredentialHeader | null;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: string | null;
}

/**
 * Returns the curl command that sends a request. All values are single-quoted literals, because they can come from a
 * hostile description. Only the credential and the origin can be variables.
 */
export function curlCommand({ method, origin, target, credential, headers, body }: CurlRequest): string {
  const option = method === "GET" ? "" : method === "HEAD" ? " -I" : ` -X ${method}`;
  // curl would read brackets and braces as a list of addresses
  const path = target.replace(/[[\]{}]/g, encodeURIComponent);
  const url =
    typeof origin === "string" ? shellLiteral(origin + path) : `"$${origin.variable}"${shellLiteral(path)}`;
  const lines = [`curl${option} ${url}`];
  if (credential !== null) {
    const { name, isBearer, variable } = credential;
    lines.push(`-H "${name}: ${isBearer ? "Bearer " : ""}$${variable}"`);
  }
  for (const [name, value] of headers) {
    if (HEADER_NAME.test(name)) lines.push(`-H ${shellLiteral(headerLine(name, value))}`);
  }
  if (body !== null) lines.push(`--data-raw ${shellLiteral(body)}`);
  return lines.join(" \\\n  ");
}

const HEADER_NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/;

/** Returns a header as curl takes it. After `name:` curl sends no header, and after `name;` one without a value. */
function headerLine(name: string, value: string): string {
  const line = value.replaceAll("\n", " ").trim();
  return line === "" ? `${name};` : `${name}: ${line}`;
}

/**
 * Returns a text as one word of a POSIX shell, or of fish, in which `\` can escape inside single quotes. Leaves out
 * control characters: a terminal could take a pasted one for a key.
 */
export function shellLiteral(text: string): string {
  const shown = text.toWellFormed().replace(CONTROLS, "");
  return `'${shown.replace(/'|\\(?=['\\]|$)/g, (each) => `'\\${each}'`)}'`;
}

/** The control characters except tab and line feed. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the characters that are left out
const CONTROLS = /[\0-\x08\x0b-\x1f\x7f-\x9f]/g;

/** An entry of the OpenAPI extension `x-codeSamples`, which several renderers support. */
export interface CodeSample {
  lang: string;
  label: string;
  source: string;
}

interface SampledOperation extends Pick<CurlRequest, "method" | "origin" | "credential"> {
  readonly path: string;
  readonly parameters: readonly JsonObject[];
  readonly body: { type: string; value: unknown } | null;
}

const BODY_LENGTH_MAX = 4096;

/** Returns the code samples of an operation: a curl command with every required parameter. */
export function operationSamples(operation: SampledOperation): CodeSample[] {
  const { method, path, origin, credential, parameters, body } = operation;
  const given = (place: string) =>
    parameters
      .filter((each) => each.in === place && (place === "path" || each.required === true))
      .map((each): [string, string] => [String(each.name), parameterSample(each)]);
  const query = new URLSearchParams(given("query")).toString();
  const text = body === null ? null : bodyText(body);
  const source = curlCommand({
    method,
    origin,
    target: filledPath(path, new Map(given("path"))) + (query === "" ? "" : `?${query}`),
    credential,
    headers: [
      ...(body === null || text === null ? [] : [["Content-Type", body.type] as const]),
      ...given("header"),
    ],
    body: text,
  });
  return [{ lang: "Shell", label: "curl", source }];
}

/** Fills the params of a path. A dot segment would lead to another path, so that param gets a number instead. */
function filledPath(path: string, values: ReadonlyMap<string, string>): string {
  return path.replace(/\{([^{}]+)\}/g, (_, name: string) => {
    const value = (values.get(name) ?? "").toWellFormed();
    return encodeURIComponent(/^\.{0,2}$/.test(value) ? "42" : value);
  });
}

/** Returns the text of a sample body, or null for one that is too long to show. All but texts are shown as JSON. */
function bodyText({ type, value }: { type: string; value: unknown }): string | null {
  const json = JSON.stringify(value);
  if (json.length > BODY_LENGTH_MAX) return null;
  return typeof value === "string" && !/[/+]json\b/.test(type) ? value : json;
}

function parameterSample({ example, examples, schema }: JsonObject): string {
  const [first] = isRecord(examples) ? Object.values(examples) : [];
  const shown = example ?? (isRecord(first) ? first.value : undefined) ?? sampleOf(schema, () => undefined);
  return typeof shown === "object" || shown === "string" ? "42" : String(shown);
}
