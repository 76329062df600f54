import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { ApiError } from "@ostiary/lib/domain/errors";
import { StartRefused } from "@ostiary/lib/runtime/service";
import type { Logger } from "@ostiary/lib/runtime/telemetry";
import type { Publishing } from "../publishing/publish.ts";
import { servicesOfYaml } from "./document.ts";
import { seedDocument } from "./document-commands.ts";

/**
 * Applies every `*.yaml` and `*.yml` file of `directory` in name order. A file creates only services that
 * have no history (RG-100). The registry does not start if apply would refuse one of the files.
 */
export async function seedRoutes(directory: string, publishing: Publishing, log: Logger): Promise<void> {
  const request_id = Bun.randomUUIDv7();
  for (const file of await listFiles(directory)) {
    try {
      const text = await readFile(join(directory, file), "utf8");
      const { results } = await seedDocument(publishing, servicesOfYaml(text), request_id);
      const services = results.map(({ service }) => service);
      if (services.length > 0) log.info({ file, services, request_id }, "seeded routes");
    } catch (error) {
      throw refusal(file, error);
    }
  }
}

async function listFiles(directory: string): Promise<string[]> {
  const names = await readdir(directory);
  return names.filter((name) => /\.ya?ml$/.test(name)).sort();
}

function refusal(file: string, error: unknown): unknown {
  if (!(error instanceof ApiError) || error.status >= 500) return error;
  const fields = Array.isArray(error.details?.fields) ? error.details.fields : [];
  const lines = fields.map(({ path, message }) => `  ${path === "" ? "" : `${path}: `}${message}`);
  return new StartRefused(
    [`SEED_ROUTES_DIR: ${file} is refused: ${error.message}`, ...lines].join("\n"),
    error,
  );
}
