/** Measures which nodes and fields of a route table's tree a match reads. */
import { spyOn } from "bun:test";
import type { RouteTable } from "@ostiary/lib/domain/routes";
import { LiteralChildren } from "../../../lib/domain/routes/literal-children.ts";
import { type Node, RouteFinder } from "../../../lib/domain/routes/match-tree.ts";

/** The cost of one match. */
interface Cost {
  /** The number of nodes from which the match reads at least one field. */
  readonly nodes: number;
  /** The number of fields that the match reads. */
  readonly reads: number;
}

/** Returns a function that finds a route in `table` and returns the cost of the match. */
export function costsOf(table: RouteTable): (method: string, path: string) => Cost {
  const read = new Set<Node>();
  let reads = 0;
  const root = observed(treeOf(table), (node) => {
    read.add(node);
    reads++;
  });
  const finder = new RouteFinder();
  return (method, path) => {
    read.clear();
    reads = 0;
    finder.find(root, method, path);
    return { nodes: read.size, reads };
  };
}

/** Returns the root of the tree in which a table finds routes. */
export function treeOf(table: RouteTable): Node {
  const find = spyOn(RouteFinder.prototype, "find");
  try {
    table.match("GET", "/");
    const [root] = find.mock.calls[0] ?? [];
    if (root === undefined) throw new Error("The table did not search its tree.");
    return root;
  } finally {
    find.mockRestore();
  }
}

/** Returns a copy of a tree that calls `onRead` whenever a field of a node is read. */
function observed(node: Node, onRead: (node: Node) => void): Node {
  const literals = node.literals && new LiteralChildren<Node>();
  for (const child of node.literals ?? []) literals?.set(observed(child, onRead));
  const copy = { ...node, literals, param: node.param && observed(node.param, onRead) };
  return new Proxy(copy, {
    get(target, field) {
      onRead(target);
      return Reflect.get(target, field);
    },
  });
}
