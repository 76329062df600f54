/** The module of a program that uses generated clients. */
export const GO_MODULE = `module clients

go 1.24

require (
	github.com/oapi-codegen/nullable v1.1.0
	github.com/oapi-codegen/runtime v1.8.0
)
`;

/**
 * Returns the settings of oapi-codegen. With `nullable-type`, a field that is null differs from a missing
 * one.
 */
export function goSettings(name: string): string {
  const what = { models: true, client: true };
  const options = { "nullable-type": true };
  return JSON.stringify({
    package: name,
    output: `${name}/client.go`,
    generate: what,
    "output-options": options,
  });
}
