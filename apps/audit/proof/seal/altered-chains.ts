import { hexOf } from "@ostiary/lib/domain/proof";
import type { Logger } from "@ostiary/lib/runtime/telemetry";
import type { HeadMap } from "../heads/head-map.ts";
import type { ChainRow } from "./chain-sql.ts";

/**
 * The error for a tree, map of heads or signed root that is not what was sealed. The sealer then seals nothing in any
 * log.
 */
export class TreeAltered extends Error {
  constructor(what: string) {
    super(
      `${what}. Nothing more is sealed until the rows are restored, or ostiary audit restart declares the change.`,
    );
    this.name = "TreeAltered";
  }
}

/** The chain of one owner whose rows are not what was sealed. The sealer leaves it out and seals the others. */
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
  if (row.has_later_entries) return "the chain has entries after its end";
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

/** Reports the chains that the sealer leaves out from now on, and those that it seals again. */
export function logAltered(
  { log }: { log: Pick<Logger, "error"> },
  {
    altered = [],
    matchingAgain = [],
  }: { altered?: readonly AlteredChain[]; matchingAgain?: readonly string[] },
): void {
  for (const chain of altered) {
    log.error(
      chain,
      "the log of an owner is not what was sealed: the sealer leaves it out and seals the others",
    );
  }
  for (const owner of matchingAgain) {
    log.error({ owner }, "the log of an owner matches what was sealed: the sealer seals it again");
  }
}
