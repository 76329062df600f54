/** Suggests routes for a path that no route matches (RG-74). */
import type { CompiledRoute } from "./compile-service.ts";
import { foldedSegment } from "./folded-segment.ts";
import { segmentsOf } from "./route-path.ts";
import type { RouteTable } from "./route-table.ts";

const LITERAL = 3;
const PARAM = 2;
/** The maximum number of returned routes. */
const NEAREST_MAX = 5;

/**
 * Returns at most {@link NEAREST_MAX} routes of any method whose leading segments match `path` best, the best
 * match first. Visits every route, so the gateway must not call this function while it serves requests.
 */
export function nearestRoutes(table: RouteTable, path: string): CompiledRoute[] {
  const wanted = path
    .split("/")
    .map(foldedSegment)
    .filter((segment) => segment !== "");
  return table.routes
    .map((route) => ({ route, likeness: likeness(route.path, wanted) }))
    .filter((candidate) => candidate.likeness > 0)
    .sort((a, b) => b.likeness - a.likeness || compare(a.route, b.route))
    .slice(0, NEAREST_MAX)
    .map((candidate) => candidate.route);
}

/**
 * Returns a score for the leading segments that match. A literal scores higher than a param, and each missing
 * or extra segment reduces the score by one.
 */
function likeness(path: string, wanted: readonly string[]): number {
  const segments = segmentsOf(path);
  let score = 0;
  for (const [index, segment] of segments.entries()) {
    const text = wanted[index];
    if (text === undefined || ("literal" in segment && foldedSegment(segment.literal) !== text)) break;
    score += "literal" in segment ? LITERAL : PARAM;
  }
  return score === 0 ? 0 : Math.max(1, score - Math.abs(segments.length - wanted.length));
}

function compare(a: CompiledRoute, b: CompiledRoute): number {
  return a.path < b.path ? -1 : Number(a.path > b.path);
}
