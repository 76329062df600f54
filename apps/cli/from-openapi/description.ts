/** Reads OpenAPI descriptions, whose text nobody has checked. */
import { isRecord } from "@ostiary/lib/domain/json";
import { REFERENCE_LENGTH_MAX, valueAt } from "@ostiary/lib/openapi";
import { decodeUtf8, InvalidText, parseJsonText, parseText } from "@ostiary/lib/runtime/documents";
import { isJsonFile } from "../commands/read-document.ts";
import { Refused } from "../exit-codes.ts";

export type JsonObject = Readonly<Record<string, unknown>>;

const DESCRIPTION_BYTES_MAX = 128 * 1024 * 1024;
/** The maximum number of references from one value to the next. */
const REFERENCES_MAX = 16;

/** A part of a description that a configuration document cannot express. The message is the reason. */
export class NotExpressed extends Error {}

/** An OpenAPI description of version 3.0 or 3.1. */
export class Description {
  readonly root: JsonObject;

  /**
   * Parses a description in JSON or YAML.
   *
   * @throws Refused if the text is not a description of OpenAPI 3.0 or 3.1
   */
  constructor(file: string, bytes: Uint8Array) {
    if (bytes.byteLength > DESCRIPTION_BYTES_MAX) {
      throw new Refused(`${file} has more than ${DESCRIPTION_BYTES_MAX} bytes: split the description.`);
    }
    const root = parsed(file, bytes);
    if (!isRecord(root)) throw new Refused(`${file} is not an OpenAPI description: it is not an object.`);
    requireVersion(file, root);
    if (!isRecord(root.paths)) throw new Refused(`${file} has no paths: there is nothing to publish.`);
    this.root = root;
  }

  /** The paths with their path items, in the order of the description. */
  get paths(): [path: string, item: unknown][] {
    const { paths } = this.root;
    return isRecord(paths) ? Object.entries(paths).filter(([path]) => !path.startsWith("x-")) : [];
  }

  /**
   * Returns the fields `names` of an object, and follows its references inside the description. Fields beside a `$ref`
   * override those of its target. Nothing else is copied, because many references can lead to one huge object.
   *
   * @throws NotExpressed for a value that is not an object, and for a reference that leads nowhere
   */
  fieldsOf<Name extends string>(value: unknown, names: readonly Name[]): { readonly [N in Name]?: unknown } {
    const fields: { [N in Name]?: unknown } = {};
    let found = value;
    for (let hops = 0; hops <= REFERENCES_MAX; hops += 1) {
      if (!isRecord(found)) throw new NotExpressed("The description has no object there.");
      for (const name of names) {
        if (Object.hasOwn(found, name) && !Object.hasOwn(fields, name)) fields[name] = found[name];
      }
      if (!Object.hasOwn(found, "$ref")) return fields;
      found = this.#target(found.$ref);
    }
    throw new NotExpressed(`A chain of more than ${REFERENCES_MAX} references leads to no object.`);
  }

  #target(reference: unknown): unknown {
    if (typeof reference !== "string" || !reference.startsWith("#/")) {
      throw new NotExpressed("A $ref leads out of the description: put both into one file.");
    }
    if (reference.length > REFERENCE_LENGTH_MAX) {
      throw new NotExpressed(`A $ref has more than ${REFERENCE_LENGTH_MAX} characters.`);
    }
    const found = valueAt(this.root, reference);
    if (found === undefined) throw new NotExpressed("A $ref names nothing in the description.");
    return found;
  }
}

function parsed(file: string, bytes: Uint8Array): unknown {
  try {
    const text = decodeUtf8(bytes, "file");
    return isJsonFile(file) ? parseJsonText(text, "file") : parseText(text, "file");
  } catch (error) {
    if (!(error instanceof InvalidText)) throw error;
    throw new Refused(`${file}: ${error.parts.join("")}`);
  }
}

function requireVersion(file: string, { openapi, swagger }: JsonObject): void {
  // YAML reads an unquoted 3.0 as a number
  const version = typeof openapi === "number" ? openapi.toFixed(1) : String(openapi);
  if (/^3\.[01](\.|$)/.test(version)) return;
  if (swagger !== undefined) {
    throw new Refused(
      `${file} is a description of Swagger 2.0: convert it to OpenAPI 3, for example with \`npx swagger2openapi\`.`,
    );
  }
  throw new Refused(`${file} is not a description of OpenAPI 3.0 or 3.1: set openapi to the version.`);
}
