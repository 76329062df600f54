import { notFound } from "@ostiary/lib/domain/errors";
import type { RouteMatch, RouteTable } from "@ostiary/lib/domain/routes";
import type { RequestTarget } from "../edge/request-target.ts";

/**
 * Step 1: returns the route of a method and path (GW-12).
 *
 * @throws ApiError 404 if no route matches the path and the method
 */
export function match(table: RouteTable, method: string, target: RequestTarget): RouteMatch {
  const found = table.match(method, target.path);
  if (found === null) throw notFound();
  return found;
}
