/**
 * Returns whether a value is a JSON or YAML object. Callers must read only field names that
 * `Object.prototype` does not have.
 */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
