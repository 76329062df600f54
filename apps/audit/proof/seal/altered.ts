import { hexOf } from "@ostiary/lib/domain/proof";
import type { HeadMap } from "../heads/head-map.ts";
import type { ChainRow } from "./chain-sql.ts";

/** The error for a log whose tree, map or signed root is not what was sealed. The sealer then adds nothing to it. */
export class LogAltered extends Error {
  constructor(what: string) {
    super(
      `${what}. Nothing more is sealed until the rows are restored, or ostiary audit restart declares the change.`,
    );
    this.name = "LogAltered";
  }
}

/** A chain that is left out, and why. */
export interface AlteredChain {
  owner: string;
  /** The difference, as a part of the sentence of an error message. */
  reason: string;
}

/** Returns the chains whose rows differ from their heads in the map, which the last signed root holds. */
export function alteredOf(chains: readonly ChainRow[], map: HeadMap): AlteredChain[] {
  return chains.flatMap((row) => {
    const reason = differenceOf(row, map);
    return reason === null ? [] : [{ owner: row.owner, reason }];
  });
}

function differenceOf(row: ChainRow, map: HeadMap): string | null {
  if (row.goes_on) return "the chain has entries after its end";
  const head = map.headOf(row.owner);
  if (head === "lost") return "the path to the chain in the map of heads is gone";
  if (head === null) return row.chain === null ? null : "the map of heads does not have the chain";
  if (row.position !== head.position) {
    return `the chain ends at position ${row.position}, and position ${head.position} was sealed`;
  }
  return row.chain === hexOf(head.chain)
    ? null
    : `the hash at position ${head.position} differs from the sealed one`;
}
