import { foldedSegment } from "./folded-segment.ts";
import { pathViolations, segmentsOf } from "./route-path.ts";

/** Returns the reasons why `prefix` is not a valid path prefix, or an empty list for a valid prefix (RG-114). */
export function pathPrefixViolations(prefix: string): string[] {
  return pathViolations(prefix, "public");
}

/**
 * A list of path prefixes (RG-114). A prefix covers itself and the paths below it, by whole segments. A param
 * of a prefix covers any segment. A literal of a prefix does not cover a param of a path, because the param
 * matches other segments too.
 */
export class PathPrefixes {
  readonly #prefixes: readonly (readonly (string | null)[])[];

  constructor(prefixes: readonly string[]) {
    this.#prefixes = prefixes.map(literalsOf);
  }

  /** Returns whether one of the prefixes covers every request that the route `path` matches. */
  cover(path: string): boolean {
    const literals = literalsOf(path);
    return this.#prefixes.some(
      (prefix) =>
        prefix.length <= literals.length &&
        prefix.every((literal, level) => literal === null || literal === literals[level]),
    );
  }
}

/** Returns the folded literals along a path, with null for each param. */
function literalsOf(path: string): (string | null)[] {
  return segmentsOf(path).map((segment) => ("param" in segment ? null : foldedSegment(segment.literal)));
}
