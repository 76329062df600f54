import { join } from "node:path";
import openapiTS, { astToString } from "openapi-typescript";
import type { OpenApiDocument } from "../support/http/openapi.ts";
import { ROOT } from "../support/root.ts";

const HEAD = "// Written by `bun run client` from the OpenAPI description.\n\n";

/** Returns the types of `@ostiary/client`, by their paths in the repository. */
export async function clientTypes({
  gateway,
  registry,
}: Record<"gateway" | "registry", OpenApiDocument>): Promise<Map<string, string>> {
  const files = new Map<string, string>();
  for (const [name, description] of Object.entries({ gateway, registry })) {
    const tree = await openapiTS(JSON.stringify(withoutErrors(description)));
    files.set(join(ROOT, `lib/client/apis/${name}.d.ts`), HEAD + astToString(tree));
  }
  return files;
}

/**
 * Returns a description without errors, which the client throws as one class, without headers of responses and
 * without examples.
 */
function withoutErrors(description: OpenApiDocument): object {
  const paths = Object.entries(description.paths).map(([path, operations]) => [
    path,
    Object.fromEntries(
      Object.entries(operations).map(([method, operation]) => [
        method,
        { ...operation, ...successes(operation) },
      ]),
    ),
  ]);
  const { schemas } = description.components;
  const whole = { ...description, components: { schemas }, paths: Object.fromEntries(paths) };
  return JSON.parse(JSON.stringify(whole, (name, value) => (/^examples?$/.test(name) ? undefined : value)));
}

function successes({ responses }: { responses: Record<string, object> }): { responses: object } {
  const kept = Object.entries(responses).filter(([status]) => /^[23]/.test(status));
  return {
    responses: Object.fromEntries(kept.map(([status, response]) => [status, { ...response, headers: {} }])),
  };
}
