import { isRecord } from "../domain/json/index.ts";
import { sampleOf } from "./schema-samples.ts";
import type { JsonObject } from "./schemas.ts";

/**
 * The request that code samples in several languages send. `${NAME}` in a text stands for an environment
 * variable.
 */
interface SampleRequest {
  method: string;
  url: string;
  headers: readonly (readonly [name: string, value: string])[];
  /** Headers with literal values: `${NAME}` in them is not a variable. */
  plainHeaders?: readonly (readonly [name: string, value: string])[];
  /** The body: a value to send as JSON, or a text of another media type. */
  body?: { json: unknown } | { text: string };
}

/** An entry of the OpenAPI extension `x-codeSamples`, which several renderers support. */
export interface CodeSample {
  lang: string;
  label: string;
  source: string;
}

/** Returns code samples that send the request with curl, TypeScript and Python. */
export function codeSamples(request: SampleRequest): CodeSample[] {
  return [
    { lang: "Shell", label: "curl", source: curlSample(request) },
    { lang: "TypeScript", label: "TypeScript", source: typeScript(request) },
    { lang: "Python", label: "Python", source: python(request) },
  ];
}

const VARIABLE = /\$\{([A-Z][A-Z0-9_]*)\}/g;

/** Splits a text into alternating pieces: literal text, variable name, literal text and so on. */
function cut(text: string): string[] {
  return text.split(VARIABLE);
}

/**
 * Converts the literal pieces of a text with `plain` and its variable names with `variable`, and joins the
 * results.
 */
function spell(text: string, plain: (piece: string) => string, variable: (name: string) => string): string {
  return cut(text)
    .map((piece, index) => (index % 2 === 0 ? plain(piece) : variable(piece)))
    .join("");
}

/** Returns the curl command that sends the request. */
export function curlSample({ method, url, headers, plainHeaders = [], body }: SampleRequest): string {
  const lines = [
    `curl${method === "GET" ? "" : method === "HEAD" ? " -I" : ` -X ${method}`} ${shellText(url)}`,
  ];
  for (const [name, value] of headers) lines.push(`-H ${shellText(`${name}: ${value}`)}`);
  for (const [name, value] of plainHeaders) lines.push(`-H ${shellLiteral(`${name}: ${value}`)}`);
  if (body !== undefined) {
    lines.push(`-d ${shellLiteral("json" in body ? JSON.stringify(body.json) : body.text)}`);
  }
  return lines.join(" \\\n  ");
}

function shellText(text: string): string {
  if (cut(text).length === 1) return shellLiteral(text);
  return `"${spell(
    text,
    (piece) => piece.replace(/[\\"`$]/g, "\\$&"),
    (name) => `$${name}`,
  )}"`;
}

function shellLiteral(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function typeScript({ method, url, headers, plainHeaders = [], body }: SampleRequest): string {
  const fields: string[] = [];
  if (method !== "GET") fields.push(`method: ${JSON.stringify(method)}`);
  const lines = [
    ...headers.map(([name, value]) => `${JSON.stringify(name)}: ${typeScriptText(value)}`),
    ...plainHeaders.map(([name, value]) => `${JSON.stringify(name)}: ${JSON.stringify(value)}`),
  ];
  if (lines.length > 0) {
    fields.push(`headers: {\n    ${lines.join(",\n    ")},\n  }`);
  }
  if (body !== undefined) {
    const text =
      "json" in body
        ? `JSON.stringify(${indented(JSON.stringify(body.json, null, 2))})`
        : JSON.stringify(body.text);
    fields.push(`body: ${text}`);
  }
  const options = fields.length === 0 ? "" : `, {\n  ${fields.join(",\n  ")},\n}`;
  return `const response = await fetch(${typeScriptText(url)}${options});
if (!response.ok) throw new Error(await response.text());
console.log(await response.text());`;
}

function typeScriptText(text: string): string {
  if (cut(text).length === 1) return JSON.stringify(text);
  return `\`${spell(
    text,
    (piece) => piece.replace(/[\\`]|\$(?=\{)/g, "\\$&"),
    (name) => `\${process.env.${name}}`,
  )}\``;
}

function python({ method, url, headers, plainHeaders = [], body }: SampleRequest): string {
  const fields = [pythonText(url)];
  const lines = [
    ...headers.map(([name, value]) => `${JSON.stringify(name)}: ${pythonText(value)}`),
    ...plainHeaders.map(([name, value]) => `${JSON.stringify(name)}: ${JSON.stringify(value)}`),
  ];
  if (lines.length > 0) {
    fields.push(`headers={\n        ${lines.join(",\n        ")},\n    }`);
  }
  if (body !== undefined) {
    fields.push("json" in body ? `json=${pythonLiteral(body.json)}` : `data=${JSON.stringify(body.text)}`);
  }
  const usesVariables = [url, ...headers.map(([, value]) => value)].some((text) => cut(text).length > 1);
  return `${usesVariables ? "import os\n" : ""}import requests

response = requests.${method.toLowerCase()}(
    ${fields.join(",\n    ")},
    timeout=30,
)
response.raise_for_status()
print(response.text)`;
}

function pythonText(text: string): string {
  if (cut(text).length === 1) return JSON.stringify(text);
  return `f"${spell(
    text,
    (piece) => JSON.stringify(piece).slice(1, -1).replace(/[{}]/g, "$&$&"),
    (name) => `{os.environ['${name}']}`,
  )}"`;
}

/** Returns a JSON value as a Python literal. */
function pythonLiteral(value: unknown): string {
  if (value === null || value === undefined) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (Array.isArray(value)) return `[${value.map(pythonLiteral).join(", ")}]`;
  if (typeof value !== "object") return JSON.stringify(value);
  const members = Object.entries(value).map(
    ([key, part]) => `${JSON.stringify(key)}: ${pythonLiteral(part)}`,
  );
  return `{${members.join(", ")}}`;
}

function indented(text: string): string {
  return text.replaceAll("\n", "\n  ");
}

/** The parts of an OpenAPI operation from which code samples are built. */
interface SampledOperation {
  method: string;
  path: string;
  /** The origin of the API, such as `https://api.example.com` or `${API_URL}`. */
  origin: string;
  /** The headers that authenticate the caller. */
  credential: readonly (readonly [name: string, value: string])[];
  parameters: readonly JsonObject[];
  body: { type: string; value: unknown } | null;
}

const BODY_LENGTH_MAX = 4096;

/** Returns code samples that call the operation with every required parameter. */
export function operationSamples(operation: SampledOperation): CodeSample[] {
  const { method, path, origin, credential, parameters, body } = operation;
  const given = (place: string) =>
    parameters
      .filter((each) => each.in === place && (place === "path" || each.required === true))
      .map((each): [string, string] => [String(each.name), parameterSample(each)]);
  const values = new Map(given("path"));
  const filled = path.replace(/\{([^{}]+)\}/g, (_, name: string) =>
    encodeURIComponent(values.get(name) ?? "42"),
  );
  const query = new URLSearchParams(given("query")).toString();
  const shown = body !== null && isShown(body.value) ? body : null;
  const isJson = shown !== null && /[/+]json\b/.test(shown.type);
  const type = shown === null ? [] : [["Content-Type", shown.type] as const];
  return codeSamples({
    method,
    url: `${origin}${filled}${query === "" ? "" : `?${query}`}`,
    headers: [...credential, ...type],
    plainHeaders: given("header"),
    ...(shown !== null && { body: isJson ? { json: shown.value } : { text: String(shown.value) } }),
  });
}

function isShown(value: unknown): boolean {
  return JSON.stringify(value).length <= BODY_LENGTH_MAX;
}

function parameterSample({ example, examples, schema }: JsonObject): string {
  const [first] = isRecord(examples) ? Object.values(examples) : [];
  const shown = example ?? (isRecord(first) ? first.value : undefined) ?? sampleOf(schema, () => undefined);
  return typeof shown === "object" || shown === "string" ? "42" : String(shown);
}
