import { ApiError, type FieldError, fieldErrors, fits } from "@ostiary/lib/domain/errors";
import { isRecord } from "@ostiary/lib/domain/json";
import { StoredServiceConfig } from "@ostiary/lib/domain/routes";

/**
 * A config as stored in the database. During an upgrade or rollback, replicas of two versions of Ostiary share the
 * database. Therefore a config may have fields that this version does not know.
 */
type StoredConfig =
  | { readonly config: StoredServiceConfig }
  | {
      readonly config: null;
      /** The violations that make the config unreadable for this version of Ostiary. */
      readonly unreadable: FieldError[];
    };

/** Joins a stored config with the tests of its revision; `tests` is null for a revision without tests. */
export function withTests(config: unknown, tests: unknown): unknown {
  return tests === null || !isRecord(config) ? config : { ...config, tests };
}

/** Reads a stored config. If this version of Ostiary cannot read it, returns the violations instead. */
export function readStoredConfig(stored: unknown): StoredConfig {
  if (fits(StoredServiceConfig, stored)) return { config: stored };
  return { config: null, unreadable: fieldErrors(StoredServiceConfig, stored) };
}

/** Returns the 409 for a revision that this version of Ostiary cannot read. */
export function unreadableRevision(service: string, revision: number): ApiError {
  return new ApiError("CONFLICT", {
    message: `Another version of Ostiary wrote revision ${revision} of ${service}, and this version cannot read it. Restore an earlier revision, or run the version that wrote it.`,
    details: { field: "revision", value: String(revision) },
  });
}
