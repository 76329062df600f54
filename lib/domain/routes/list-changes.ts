import { Value } from "@sinclair/typebox/value";
import type { Change } from "./change-schema.ts";
import { SCOPES } from "./methods-and-scopes.ts";
import type { StoredServiceConfig } from "./service-schema.ts";

type RoutePlace = Pick<Change, "scope" | "method" | "path">;
type Parts = Map<string, { place: RoutePlace; value: NonNullable<Change["before"]> }>;

/**
 * Lists the changes that turn `before` into `after`: first additions and changes in the order of `after`,
 * then removals. Null means that the service does not exist.
 */
export function listChanges(before: StoredServiceConfig | null, after: StoredServiceConfig | null): Change[] {
  const old = partsOf(before);
  const changes: Change[] = [];
  for (const [key, { place, value }] of partsOf(after)) {
    const was = old.get(key)?.value ?? null;
    old.delete(key);
    if (was === null) changes.push({ action: "added", ...place, before: null, after: value });
    else if (!Value.Equal(was, value)) {
      changes.push({ action: "changed", ...place, before: was, after: value });
    }
  }
  for (const { place, value } of old.values()) {
    changes.push({ action: "removed", ...place, before: value, after: null });
  }
  return changes;
}

const ofService: RoutePlace = { scope: null, method: null, path: null };

/** Splits a config into the parts that can change independently, and returns them by unique keys. */
function partsOf(config: StoredServiceConfig | null): Parts {
  const parts: Parts = new Map();
  if (config === null) return parts;
  const { url, openapi, timeout_ms, max_body_bytes } = config;
  for (const [name, value] of Object.entries({ url, openapi, timeout_ms, max_body_bytes })) {
    if (value !== undefined) parts.set(name, { place: ofService, value: { [name]: value } });
  }
  for (const [name, policy] of Object.entries(config.rate_limits ?? {})) {
    parts.set(`policy ${name}`, { place: ofService, value: { rate_limits: { [name]: policy } } });
  }
  for (const test of config.tests ?? []) {
    parts.set(`test ${test.name}`, { place: ofService, value: { test } });
  }
  for (const scope of SCOPES) {
    for (const { path, methods, ...settings } of config[scope]?.routes ?? []) {
      for (const method of methods) {
        parts.set(`route ${scope} ${method} ${path}`, { place: { scope, method, path }, value: settings });
      }
    }
  }
  return parts;
}
