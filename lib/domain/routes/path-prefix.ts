import { pathViolations, type Segment, segmentsOf } from "./route-path.ts";

/** Returns the reasons why `prefix` cannot stand for the paths at and below it (RG-114). */
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
 * The paths at and below some prefixes. Whole segments are compared. A param of a prefix stands for any
 * segment. A param of a path matches any request, so it lies only below a param of a prefix (RG-114).
 */
export class PathPrefixes {
  readonly #root = newNode();

  /** @param prefixes paths without {@link pathPrefixViolations} */
  constructor(prefixes: readonly string[]) {
    for (const prefix of prefixes) {
      let node = this.#root;
      for (const segment of segmentsOf(prefix)) node = childOf(node, segment);
      node.isEnd = true;
    }
  }

  /** Returns whether every request that the route `path` matches lies at or below a prefix. */
  cover(path: string): boolean {
    return covers(this.#root, segmentsOf(path), 0);
  }
}

function childOf(node: Node, segment: Segment): Node {
  if ("param" in segment) {
    node.param ??= newNode();
    return node.param;
  }
  const known = node.literals.get(segment.literal);
  if (known !== undefined) return known;
  const child = newNode();
  node.literals.set(segment.literal, child);
  return child;
}

function covers(node: Node, segments: readonly Segment[], index: number): boolean {
  if (node.isEnd) return true;
  const segment = segments[index];
  if (segment === undefined) return false;
  const literal = "literal" in segment ? node.literals.get(segment.literal) : undefined;
  return (
    (literal !== undefined && covers(literal, segments, index + 1)) ||
    (node.param !== null && covers(node.param, segments, index + 1))
  );
}
