import { notFound } from "@ostiary/lib/domain/errors";
import type { RouteMatch, RouteTable } from "@ostiary/lib/domain/routes";
import type { RequestTarget } from "../edge/target.ts";

/**
 * Step 1: the route of a method and path (contract 4, Matching).
 *
 * @throws ApiError 404 where no route is registered; a method that no route has is no route either
 */
export function match(table: RouteTable, method: string, target: RequestTarget): RouteMatch {
  const found = table.match(method, target.path);
  if (found === null) throw notFound();
  return found;
}
