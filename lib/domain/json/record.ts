/** An object as JSON and YAML know it. Fields are read by names that no prototype has. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
