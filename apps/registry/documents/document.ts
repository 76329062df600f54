import { type ApiError, validationError } from "@ostiary/lib/domain/errors";
import { outlineJson } from "@ostiary/lib/domain/json";
import { type StoredServiceConfig, validateDocument } from "@ostiary/lib/domain/routes";
import { nestedTooDeeply, readBytes } from "@ostiary/lib/runtime/http";
import { invalidBody, placeOf } from "./invalid-body.ts";
import { jsonSyntaxError } from "./json-syntax-error.ts";
import { parseYaml } from "./yaml.ts";

const JSON_TYPE = "application/json";
const YAML_TYPES = ["application/yaml", "application/x-yaml", "text/yaml"];

/** The content types that apply accepts. */
export const DOCUMENT_TYPES: readonly string[] = [JSON_TYPE, ...YAML_TYPES];

/** Reads the body of apply: JSON or YAML by its content type, and YAML without a content type (RG-34). */
export async function readDocument(request: Request, bytes_max: number): Promise<unknown> {
  const type = mediaType(request);
  if (type !== null && !DOCUMENT_TYPES.includes(type)) {
    throw invalidBody(`Send the document as ${DOCUMENT_TYPES.join(", ")}.`);
  }
  const text = await readUtf8(request, bytes_max);
  if (type === JSON_TYPE) return parseJson(text);
  // JSON means the same in YAML, and parses far faster as JSON
  const json = text.trimStart().startsWith("{") ? tryJson(text) : null;
  return json === null ? parseYaml(text) : json.value;
}

/** The services of a document by name, valid and in stored form. */
export type Configs = ReadonlyMap<string, StoredServiceConfig>;

/** Returns the services of a valid document; 422 with all violations. */
export function validServices(document: unknown): Configs {
  const result = validateDocument(document);
  if (!result.ok) throw validationError(result.fields);
  return result.services;
}

/** Returns the services of a valid YAML document; 422 with all violations. */
export function servicesOfYaml(text: string): Configs {
  return validServices(parseYaml(text));
}

/** Reads a JSON body, the only kind that PUT accepts. */
export async function readJson(request: Request, bytes_max: number): Promise<unknown> {
  const type = mediaType(request);
  if (type !== null && type !== JSON_TYPE) throw invalidBody(`Send the body as ${JSON_TYPE}.`);
  return parseJson(await readUtf8(request, bytes_max));
}

/** Returns the content type without its parameters, or null. */
function mediaType(request: Request): string | null {
  const type = request.headers.get("content-type")?.split(";")[0]?.trim().toLowerCase();
  return type === undefined || type === "" ? null : type;
}

async function readUtf8(request: Request, bytes_max: number): Promise<string> {
  const bytes = await readBytes(request, bytes_max);
  const text = decodeUtf8(bytes);
  if (text.trim() === "") throw invalidBody("The body is empty.");
  return text;
}

function decodeUtf8(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw invalidBody("The body is not valid UTF-8.");
  }
}

function parseJson(text: string): unknown {
  const json = tryJson(text);
  if (json === null) throw notJson(text);
  return json.value;
}

function notJson(text: string): ApiError {
  const error = jsonSyntaxError(text);
  if (error === null) return invalidBody("The body is not valid JSON.");
  return invalidBody(`The JSON is not valid${placeOf(error.offset, text)}: ${error.reason}`);
}

/**
 * Parses a JSON text. Returns null when the text is not JSON. Throws 422 for deep nesting and for a duplicate key.
 */
function tryJson(text: string): { value: unknown } | null {
  const { too_deep_at, members } = outlineJson(text);
  if (too_deep_at !== null) throw nestedTooDeeply("The document");
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  // JSON.parse keeps the last of two equal keys, so the value of a text with duplicates has fewer members
  if (countMembers(value) !== members) {
    throw invalidBody("A key is given twice in one object of the JSON.");
  }
  return { value };
}

/** Counts the members of all objects in a value; the caller has bounded the depth. */
function countMembers(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  const inside = Array.isArray(value) ? value : Object.values(value);
  let count = Array.isArray(value) ? 0 : inside.length;
  for (const part of inside) if (typeof part === "object") count += countMembers(part);
  return count;
}
