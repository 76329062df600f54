import canonicalize from "canonicalize";

/**
 * `value`, which `JSON.parse` gave, as RFC 8785 spells it. The details of an event may hold what that RFC has no
 * form for: half of a surrogate pair is spelled as its escape then, `\ud800`, as `JSON.stringify` does it.
 */
export function canonicalJson(value: unknown): string {
  return rfc8785(value) ?? sorted(value);
}

/** Null for what the RFC has no form for. */
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
