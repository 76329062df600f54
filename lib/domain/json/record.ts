/** Returns whether a value is a JSON or YAML object. Callers read only field names that no prototype has. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
