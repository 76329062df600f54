import { notFound } from "@ostiary/lib/domain/errors";
import { isUlid } from "@ostiary/lib/domain/schemas";
import { monotonicFactory } from "ulid";

/** ULIDs that grow with every call, so that `id` ascending is the order of creation within a process. */
export function idFactory(now: () => Date): () => string {
  const next = monotonicFactory();
  return () => next(now().getTime());
}

/**
 * Refuses with 404 what can not be an id of ours, before it reaches the database: an unknown id and a
 * malformed one are the same to the caller.
 */
export function existingId(resource: string, id: string): string {
  if (!isUlid(id)) throw notFound(resource, id);
  return id;
}
