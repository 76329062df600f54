import { parseRevision } from "@ostiary/lib/contracts/registry-api";
import { ApiError, validationError } from "@ostiary/lib/domain/errors";
import type { ServiceState } from "../services/service.ts";

/**
 * The precondition of If-Match: none, any current service (`*`), or one of a set of revisions. The comparison of tags
 * is strong, so a weak tag (`W/"3"`) matches no revision (RG-55).
 */
export type IfMatch = null | "current" | ReadonlySet<number>;

const TAG = /^(W\/)?"([\x21\x23-\x7e\x80-\xff]*)"$/;

/**
 * Reads the If-Match header of a write to one service.
 *
 * @throws ApiError 422 for a malformed header
 */
export function readIfMatch(request: Request): IfMatch {
  const tags = readTags(request, 'If-Match must be a revision in double quotes, such as "3", or *.');
  if (tags === null || tags === "*") return tags && "current";
  return new Set(tags.flatMap((tag) => parseRevision(tag) ?? []));
}

/**
 * Returns the strong tags of the If-Match header without their quotes, `*` for the header `*`, or null if the header
 * is missing. Leaves weak tags out, because they never match.
 *
 * @throws ApiError 422 with the message `rule` for a malformed header
 */
function readTags(request: Request, rule: string): readonly string[] | "*" | null {
  const header = request.headers.get("if-match")?.trim();
  if (header === undefined) return null;
  if (header === "*") return "*";
  const tags = header.split(",").map((part) => TAG.exec(part.trim()));
  if (tags.some((tag) => tag === null)) throw validationError([{ path: "If-Match", message: rule }]);
  return tags.flatMap((tag) => (tag?.[1] === undefined ? (tag?.[2] ?? []) : []));
}

/** The current revision of each service of a document, by name, or null for a service that is not current. */
type DryRunRevisions = ReadonlyMap<string, number | null>;

/** The tags of the dry runs that If-Match accepts. Null accepts any state. */
export type ExpectedDryRun = null | ReadonlySet<string>;

/** Returns the tag of a dry run, which changes when a service of its document is written (RG-57). */
export function dryRunTag(revisions: DryRunRevisions): string {
  const sorted = [...revisions].sort(([a], [b]) => (a < b ? -1 : 1));
  return new Bun.CryptoHasher("sha256").update(JSON.stringify(sorted)).digest("base64url");
}

/**
 * Reads the If-Match header of an apply.
 *
 * @throws ApiError 422 for a malformed header
 */
export function readExpectedDryRun(request: Request): ExpectedDryRun {
  const tags = readTags(request, "If-Match must be the ETag of a dry run, in double quotes.");
  return tags === null || tags === "*" ? null : new Set(tags);
}

/** Throws 412 if the services of the document have changed since the dry run that the caller has seen. */
export function requireDryRun(expected: ExpectedDryRun, revisions: DryRunRevisions): void {
  if (expected === null || expected.has(dryRunTag(revisions))) return;
  throw new ApiError("PRECONDITION_FAILED", { details: { current_revision: null } });
}

/** Throws a 412 unless `state` is the expected one. `state` is undefined for a service that was never written. */
export function requireRevision(expected: IfMatch, state: ServiceState | undefined): void {
  if (expected === null) return;
  const holds =
    state !== undefined && (expected === "current" ? !state.deleted : expected.has(state.revision));
  if (holds) return;
  throw new ApiError("PRECONDITION_FAILED", { details: { current_revision: state?.revision ?? null } });
}
