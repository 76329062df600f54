import { type Static, Type } from "@sinclair/typebox";
import { canonicalJson } from "./canonical-json.ts";
import { HASH_PATTERN } from "./chain.ts";
import { TIME_PATTERN } from "./months.ts";

/** A leaf of the tree: the map of heads as one pass of the sealer left it. */
export const Leaf = Type.Object(
  {
    /** The index of the leaf in the tree, counted from 0. */
    number: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
    /** The time of the pass. It is never before the time of the leaf before. */
    sealed_at: Type.String({ pattern: TIME_PATTERN }),
    /** The root of the map of heads. */
    map: Type.String({ pattern: HASH_PATTERN }),
  },
  { additionalProperties: false },
);
export type Leaf = Static<typeof Leaf>;

/** Returns a leaf as the tree holds it: canonical JSON. */
export function leafText({ number, sealed_at, map }: Leaf): string {
  return canonicalJson({ map, number, sealed_at });
}
