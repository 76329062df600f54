import type { Static, TSchema } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";

/**
 * Stores a value in this tab's `sessionStorage`, where the value survives a redirect to the identity provider.
 * Never store a token of the provider here. Returns false if the browser blocks the storage.
 */
export function keepInTab(key: string, value: unknown): boolean {
  try {
    sessionStorage.setItem(key, JSON.stringify(value));
    return true;
  } catch {
    return false;
  }
}

/** Returns a stored value, or null if it is missing, does not match the schema, or the storage is blocked. */
export function readFromTab<Schema extends TSchema>(key: string, schema: Schema): Static<Schema> | null {
  try {
    const value: unknown = JSON.parse(sessionStorage.getItem(key) ?? "null");
    return Value.Check(schema, value) ? value : null;
  } catch {
    return null;
  }
}

export function forgetInTab(key: string): void {
  try {
    sessionStorage.removeItem(key);
  } catch {
    // A browser that blocks the storage has kept nothing.
  }
}

/** Returns a stored value like {@link readFromTab}, and removes it. */
export function takeFromTab<Schema extends TSchema>(key: string, schema: Schema): Static<Schema> | null {
  const value = readFromTab(key, schema);
  forgetInTab(key);
  return value;
}
