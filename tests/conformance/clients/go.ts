/** The go.mod file of a program that uses generated clients. */
export const GO_MODULE = `module clients

go 1.24

require (
	github.com/oapi-codegen/nullable v1.1.0
	github.com/oapi-codegen/runtime v1.8.0
)
`;

/**
 * Returns the configuration of oapi-codegen for a package. The option `nullable-type` lets programs
 * distinguish a field that is null from a missing field.
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
