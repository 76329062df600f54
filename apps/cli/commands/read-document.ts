import { readFile } from "node:fs/promises";
import type { RegistryRequest } from "@ostiary/lib/contracts/registry-api";
import { systemErrorCode } from "@ostiary/lib/domain/errors";
import { UsageError } from "../exit-codes.ts";
import type { Terminal } from "../terminal.ts";

/** Reads a configuration document from a file, or from standard input for `-`. Returns the request for apply. */
export async function readDocument(file: string, terminal: Terminal): Promise<RegistryRequest> {
  const type = isJsonFile(file) ? "application/json" : "application/yaml";
  return { method: "POST", headers: { "Content-Type": type }, body: await readBytes(file, terminal) };
}

/** Returns whether the name of a file ends in `.json`. */
export function isJsonFile(file: string): boolean {
  return /\.json$/i.test(file);
}

/** Reads a file, or standard input for `-`. */
export async function readBytes(file: string, terminal: Terminal): Promise<Uint8Array<ArrayBuffer>> {
  return file === "-" ? terminal.readInput() : readFileBytes(file);
}

/** Throws a UsageError that names the file if it cannot be read. */
export async function readFileBytes(file: string): Promise<Uint8Array<ArrayBuffer>> {
  try {
    return await readFile(file);
  } catch (error) {
    const code = systemErrorCode(error) ?? "unknown reason";
    throw new UsageError(`${file} ${REASONS[code] ?? `cannot be read (${code}).`}`);
  }
}

const REASONS: Record<string, string> = {
  ENOENT: "does not exist.",
  EISDIR: "is a directory: name one of its files.",
  EACCES: "may not be read by this user.",
};
