import { mkdtempSync, rmSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sha256Of } from "@ostiary/lib/runtime/config/operators-file";
import { ADMIN_TOKEN, type Client, clientOf, type Registry, startRegistry } from "./harness.ts";

/** An entry of an operators file. */
export type Entry = Record<string, unknown> & { name: string };

/** Returns the entry of an operator whose token is `token-of-{name}`, with fields of its own. */
export function entry(name: string, role: string, fields: Record<string, unknown> = {}): Entry {
  return { name, role, token_sha256: [sha256Of(tokenOf(name))], ...fields };
}

/** Returns the token of an {@link entry}. */
export function tokenOf(name: string): string {
  return name === "admin" ? ADMIN_TOKEN : `token-of-${name}`;
}

/** An operators file in a folder of its own. */
export class OperatorsFile {
  readonly #folder = mkdtempSync(join(tmpdir(), "ostiary-operators-"));
  readonly path = join(this.#folder, "operators.yaml");

  async write(...operators: Entry[]): Promise<void> {
    await this.writeText(JSON.stringify({ operators }));
  }

  async writeText(text: string): Promise<void> {
    await writeFile(this.path, text);
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

/** A registry with an operators file. */
export interface OperatedRegistry {
  registry: Registry;
  file: OperatorsFile;
  /** Returns a client with the token of an {@link entry}, or of `admin`. */
  as(name: string): Client;
  stop(): Promise<void>;
}

export async function startOperated(
  operators: Entry[],
  given: Parameters<typeof startRegistry>[0] = {},
): Promise<OperatedRegistry> {
  const file = new OperatorsFile();
  await file.write(...operators);
  const registry = await startRegistry({ ...given, env: { ...given.env, OPERATORS_FILE: file.path } });
  return {
    registry,
    file,
    as: (name) => clientOf(registry.url, tokenOf(name)),
    async stop() {
      await registry.stop();
      file.remove();
    },
  };
}
