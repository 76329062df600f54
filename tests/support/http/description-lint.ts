import { createConfig, lintFromString } from "@redocly/openapi-core";

/** Returns the errors and warnings of the linter's recommended rules for an OpenAPI description. */
export async function lintProblems(source: string): Promise<string[]> {
  const config = await createConfig({ extends: ["recommended"] });
  const problems = await lintFromString({ source, config });
  return problems.map(({ ruleId, message, location }) => `${ruleId} at ${location[0]?.pointer}: ${message}`);
}
