import { foldedSegment } from "./folded-segment.ts";
import { pathViolations, type Segment, segmentsOf } from "./route-path.ts";

/** Returns the reasons why `prefix` is not a valid path prefix, or an empty list for a valid prefix (RG-114). */
export function pathPrefixViolations(prefix: string): string[] {
  return pathViolations(prefix, "public");
}

interface Node {
  isEnd: boolean;
  readonly literals: Map<string, Node>;
  param: Node | null;
}

const newNode = (): Node => ({ isEnd: false, literals: new Map(), param: null });

/**
 * A list of path prefixes (RG-114). A prefix covers itself and the paths below it, by whole segments. A param
 * of a prefix covers any segment. A literal of a prefix does not cover a param of a path, because the param
 * matches other segments too.
 */
export class PathPrefixes {
  readonly #root = newNode();

  constructor(prefixes: readonly string[]) {
    for (const prefix of prefixes) {
      let node = this.#root;
      for (const segment of segmentsOf(prefix)) node = childOf(node, segment);
      node.isEnd = true;
    }
  }

  /** Returns whether one of the prefixes covers every request that the route `path` matches. */
  cover(path: string): boolean {
    return covers(this.#root, segmentsOf(path), 0);
  }
}

function childOf(node: Node, segment: Segment): Node {
  if ("param" in segment) {
    node.param ??= newNode();
    return node.param;
  }
  const folded = foldedSegment(segment.literal);
  const known = node.literals.get(folded);
  if (known !== undefined) return known;
  const child = newNode();
  node.literals.set(folded, child);
  return child;
}

function covers(node: Node, segments: readonly Segment[], index: number): boolean {
  if (node.isEnd) return true;
  const segment = segments[index];
  if (segment === undefined) return false;
  const literal = "literal" in segment ? node.literals.get(foldedSegment(segment.literal)) : undefined;
  return (
    (literal !== undefined && covers(literal, segments, index + 1)) ||
    (node.param !== null && covers(node.param, segments, index + 1))
  );
}
