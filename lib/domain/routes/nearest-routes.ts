/** Suggests routes for a path that no route matches (RG-74). */
import { areClose } from "../errors/index.ts";
import type { CompiledRoute } from "./compile-service.ts";
import { foldedSegment } from "./folded-segment.ts";
import { segmentsOf } from "./route-path.ts";
import type { RouteTable } from "./route-table.ts";

const LITERAL = 3;
const PARAM = 2;
/** The score of a literal that differs from the segment by a typing error. */
const CLOSE = 1;
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
 * Returns a score for the leading segments that match. A literal scores higher than a param, and a param higher than a
 * misspelled literal. Each missing or extra segment reduces the score by one.
 */
function likeness(path: string, wanted: readonly string[]): number {
  const segments = segmentsOf(path);
  let score = 0;
  for (const [index, segment] of segments.entries()) {
    const text = wanted[index];
    const matched = text === undefined ? 0 : scoreOf(segment, text);
    if (matched === 0) break;
    score += matched;
  }
  return score === 0 ? 0 : Math.max(1, score - Math.abs(segments.length - wanted.length));
}

function scoreOf(segment: ReturnType<typeof segmentsOf>[number], text: string): number {
  if (!("literal" in segment)) return PARAM;
  const literal = foldedSegment(segment.literal);
  if (literal === text) return LITERAL;
  return areClose(literal, text) ? CLOSE : 0;
}

function compare(a: CompiledRoute, b: CompiledRoute): number {
  return a.path < b.path ? -1 : Number(a.path > b.path);
}
