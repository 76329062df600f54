import { parseRevision } from "@ostiary/lib/contracts/registry-api";
import { ApiError, validationError } from "@ostiary/lib/domain/errors";
import type { ServiceState } from "../services/service.ts";

/**
 * What If-Match asks for: nothing, any current service (`*`), or one of some revisions. Revisions are compared
 * strongly, so a weak tag (`W/"3"`) matches none (RFC 9110, If-Match; contract 3).
 */
export type IfMatch = null | "current" | ReadonlySet<number>;

const TAG = /^(W\/)?"([\x21\x23-\x7e\x80-\xff]*)"$/;

/** Reads the If-Match header; 422 when it is malformed. */
export function readIfMatch(request: Request): IfMatch {
  const tags = readTags(request, 'If-Match must be a revision in double quotes, such as "3", or *.');
  if (tags === null || tags === "*") return tags && "current";
  return new Set(tags.flatMap((tag) => parseRevision(tag) ?? []));
}

/** The strong tags of the If-Match header, without their quotes; null: it is not given. */
function readTags(request: Request, rule: string): readonly string[] | "*" | null {
  const header = request.headers.get("if-match")?.trim();
  if (header === undefined) return null;
  if (header === "*") return "*";
  const tags = header.split(",").map((part) => TAG.exec(part.trim()));
  if (tags.some((tag) => tag === null)) throw validationError([{ path: "If-Match", message: rule }]);
  return tags.flatMap((tag) => (tag?.[1] === undefined ? (tag?.[2] ?? []) : []));
}

/** The current revision of each service of a document, by name; null: it is not current. */
export type PlannedRevisions = ReadonlyMap<string, number | null>;

/** The plans that If-Match asks for, by their tags; null: any. */
export type ExpectedPlan = null | ReadonlySet<string>;

/** The tag of a plan: another one once a service of its document was written since (contract 3). */
export function planTag(revisions: PlannedRevisions): string {
  const sorted = [...revisions].sort(([a], [b]) => (a < b ? -1 : 1));
  return new Bun.CryptoHasher("sha256").update(JSON.stringify(sorted)).digest("base64url");
}

/** Reads the If-Match header of an apply; 422 when it is malformed. */
export function readExpectedPlan(request: Request): ExpectedPlan {
  const tags = readTags(request, "If-Match must be the ETag of a dry run, in double quotes.");
  return tags === null || tags === "*" ? null : new Set(tags);
}

/** 412 unless the document's services stand as they did in the plan that the caller has seen. */
export function requirePlan(expected: ExpectedPlan, revisions: PlannedRevisions): void {
  if (expected === null || expected.has(planTag(revisions))) return;
  throw new ApiError("PRECONDITION_FAILED", { details: { current_revision: null } });
}

/** 412 unless the service's state (undefined: never written) is what the caller expects. */
export function requireRevision(expected: IfMatch, state: ServiceState | undefined): void {
  if (expected === null) return;
  const holds =
    state !== undefined && (expected === "current" ? !state.deleted : expected.has(state.revision));
  if (holds) return;
  throw new ApiError("PRECONDITION_FAILED", { details: { current_revision: state?.revision ?? null } });
}
