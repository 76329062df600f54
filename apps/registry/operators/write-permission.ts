import { ApiError, FIELD_ERRORS_MAX } from "@ostiary/lib/domain/errors";
import {
  type OutOfBounds,
  outOfBoundsText,
  PublisherBounds,
  type StoredServiceConfig,
} from "@ostiary/lib/domain/routes";
import type { Operator } from "@ostiary/lib/runtime/config/operators-file";
import { contextOf } from "@ostiary/lib/runtime/http";
import type { Orm } from "@ostiary/lib/runtime/stores/database";
import { operatorOf, readerRefused } from "./access.ts";
import { readChangeNote } from "./change-note.ts";
import { readPublished } from "./operator-sql.ts";

/** The sender of a write. */
export interface Author {
  /** The operator, or null if the registry writes seeds at start. */
  readonly operator: Operator | null;
  readonly request_id: string;
  /** The reason for the write, or null if the operator sent none. */
  readonly reason: string | null;
  /** The URL of a ticket or pipeline run, or null if the operator sent none. */
  readonly link: string | null;
}

/**
 * Returns the operator of a write, with the reason and link of its headers.
 *
 * @throws ApiError 422 for a reason or link that is not valid
 */
export function authorOf(request: Request): Author {
  const { request_id, subject } = contextOf(request);
  const note = readChangeNote(request.headers);
  if (note.reason !== null) subject.change_reason = note.reason;
  if (note.link !== null) subject.change_link = note.link;
  return { operator: operatorOf(request), request_id, ...note };
}

/** The services of a write by name, each with its new config, or null for a deletion. */
export type Writes = ReadonlyMap<string, StoredServiceConfig | null>;

/**
 * The permission for a write. The statement that appends revisions requires it, so no write can skip the
 * check.
 */
export class WritePermission {
  readonly author: Author;

  private constructor(author: Author) {
    this.author = author;
  }

  /**
   * Checks that the author may do all of `writes`. Runs in the transaction of the write, so no other write can change
   * a service between this check and the write (RG-114).
   *
   * @throws ApiError 403 that lists the missing permissions
   */
  static async of(tx: Orm, author: Author, writes: Writes, kind: WriteKind = {}): Promise<WritePermission> {
    const { operator } = author;
    if (operator?.role === "reader") throw readerRefused(operator);
    await refuseMissing(tx, operator, writes, kind);
    return new WritePermission(author);
  }
}

/** `isRestore` is true for the restore of an earlier revision, which counts as setting its address. */
interface WriteKind {
  readonly isRestore?: boolean;
}

/** Throws 403 for a publisher who may not do all of `writes`. A dry run makes the same check (RG-114). */
export async function refuseMissing(
  tx: Orm,
  operator: Operator | null,
  writes: Writes,
  kind: WriteKind = {},
): Promise<void> {
  if (operator?.role !== "publisher") return;
  const missing = new PublisherBounds(operator).outside(writes, await readPublished(tx, writes), kind);
  if (missing.length > 0) throw publisherRefused(operator, missing);
}

function publisherRefused({ name }: Operator, missing: readonly OutOfBounds[]): ApiError {
  const shown = missing.slice(0, FIELD_ERRORS_MAX);
  const more = missing.length - shown.length;
  return new ApiError("FORBIDDEN", {
    message: `Operator ${name} may not publish ${shown.map(outOfBoundsText).join(", ")}${more > 0 ? `, and ${more} more` : ""}. Nothing was written.`,
    details: { operator: name, missing: shown },
  });
}
