import { readdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import root from "../../package.json" with { type: "json" };
import { runToEnd } from "../support/processes/run-to-end.ts";
import { API_NAMES } from "./descriptions.ts";

/** Returns the names of all files of a release for these systems, except SHA256SUMS. */
export function filesOf(systems: readonly string[], version: string): string[] {
  return [
    "RELEASE_NOTES.md",
    ...API_NAMES.map((api) => `openapi-${api}.json`),
    `ostiary-${version}.tgz`,
    `ostiary-client-${version}.tgz`,
    ...systems.flatMap((system) => [`ostiary-${system}`, `ostiary-${system}-${version}.tgz`]),
    "routes.schema.json",
    "sbom.cdx.json",
  ].toSorted();
}

/**
 * Checks the files of a release, and returns the text of SHA256SUMS.
 * @throws Error if a file is missing, superfluous, empty or no JSON, or if the executable has another version
 */
export async function checkRelease(folder: string, systems: readonly string[]): Promise<string> {
  const files = (await readdir(folder)).filter((file) => file !== "SHA256SUMS").toSorted();
  const expected = filesOf(systems, root.version);
  if (files.join() !== expected.join())
    throw new Error(`The release has the files ${files.join(", ")}, and not ${expected.join(", ")}.`);
  const sums: string[] = [];
  for (const name of files) {
    const file = Bun.file(join(folder, name));
    if (file.size === 0) throw new Error(`${name} is empty.`);
    if (name.endsWith(".json")) await file.json();
    const sum = new Bun.CryptoHasher("sha256").update(await file.bytes()).digest("hex");
    sums.push(`${sum}  ${name}\n`);
  }
  const own = `${process.platform}-${process.arch}`;
  if (systems.includes(own)) {
    const { stdout } = await runToEnd([resolve(folder, `ostiary-${own}`), "--version"], { cwd: folder });
    if (stdout.trim() !== root.version)
      throw new Error(`ostiary-${own} prints the version ${stdout.trim()}.`);
  }
  return sums.join("");
}
