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
  const header = request.headers.get("if-match")?.trim();
  if (header === undefined) return null;
  if (header === "*") return "current";
  const tags = header.split(",").map((part) => TAG.exec(part.trim()));
  if (tags.some((tag) => tag === null)) {
    throw validationError([
      { path: "If-Match", message: 'If-Match must be a revision in double quotes, such as "3", or *.' },
    ]);
  }
  const revisions = tags.flatMap((tag) =>
    tag?.[1] === undefined ? (parseRevision(tag?.[2] ?? "") ?? []) : [],
  );
  return new Set(revisions);
}

/** 412 unless the service's state (undefined: never written) is what the caller expects. */
export function requireRevision(expected: IfMatch, state: ServiceState | undefined): void {
  if (expected === null) return;
  const holds =
    state !== undefined && (expected === "current" ? !state.deleted : expected.has(state.revision));
  if (holds) return;
  throw new ApiError("PRECONDITION_FAILED", { details: { current_revision: state?.revision ?? null } });
}
