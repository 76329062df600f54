import { validationError } from "@ostiary/lib/domain/errors";
import { validateDocument } from "@ostiary/lib/domain/routes";
import { decodeUtf8, invalidText, parseJsonText, parseText, parseYaml } from "@ostiary/lib/runtime/documents";
import { readBytes } from "@ostiary/lib/runtime/http";
import type { Configs } from "../publishing/publishing-sql.ts";

const JSON_TYPE = "application/json";
const YAML_TYPES = ["application/yaml", "application/x-yaml", "text/yaml"];

/** The content types that apply accepts. */
export const DOCUMENT_TYPES: readonly string[] = [JSON_TYPE, ...YAML_TYPES];

/**
 * Reads the body of an apply request, which is JSON or YAML by its content type. The default is YAML (RG-34). Returns a
 * function that parses the body.
 */
export async function readDocument(request: Request, bytesMax: number): Promise<() => unknown> {
  const type = mediaType(request);
  if (type !== null && !DOCUMENT_TYPES.includes(type)) {
    throw invalidText(`Send the document as ${DOCUMENT_TYPES.join(", ")}.`);
  }
  const text = await readText(request, bytesMax);
  return () => (type === JSON_TYPE ? parseJsonText(text) : parseText(text));
}

/** Returns the services of a document. Throws a 422 with all violations if the document is not valid. */
export function validServices(document: unknown): Configs {
  const result = validateDocument(document);
  if (!result.ok) throw validationError(result.fields);
  return result.services;
}

/** Returns the services of a YAML document. Throws a 422 with all violations if the document is not valid. */
export function servicesOfYaml(text: string): Configs {
  return validServices(parseYaml(text));
}

/** Reads a JSON body, the only kind that PUT accepts. */
export async function readJson(request: Request, bytesMax: number): Promise<unknown> {
  const type = mediaType(request);
  if (type !== null && type !== JSON_TYPE) throw invalidText(`Send the body as ${JSON_TYPE}.`);
  return parseJsonText(await readText(request, bytesMax));
}

/** Returns the content type without its parameters, or null if the request has no content type. */
function mediaType(request: Request): string | null {
  const type = request.headers.get("content-type")?.split(";")[0]?.trim().toLowerCase();
  return type === undefined || type === "" ? null : type;
}

async function readText(request: Request, bytesMax: number): Promise<string> {
  return decodeUtf8(await readBytes(request, bytesMax));
}
