import canonicalize from "canonicalize";

/**
 * Returns `value`, a result of `JSON.parse`, as canonical JSON (RFC 8785). The details of an event may
 * contain lone surrogates, which the RFC forbids. Lone surrogates are escaped as by `JSON.stringify`, such as
 * `\ud800`.
 */
export function canonicalJson(value: unknown): string {
  return rfc8785(value) ?? sorted(value);
}

/** Returns the RFC 8785 form of a value, or null if the value contains a lone surrogate. */
function rfc8785(value: unknown): string | null {
  try {
    return canonicalize(value) ?? null;
  } catch {
    return null;
  }
}

function sorted(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(sorted).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, item]) => `${JSON.stringify(name)}:${sorted(item)}`).join(",")}}`;
}
