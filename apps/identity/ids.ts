import { notFound } from "@ostiary/lib/errors";
import { isUlid } from "@ostiary/lib/schemas";
import { monotonicFactory } from "ulid";
import type { Clock } from "./directory.ts";

/** ULIDs that grow with every call, so that `id` ascending is the order of creation within a process. */
export function idFactory(now: Clock): () => string {
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
