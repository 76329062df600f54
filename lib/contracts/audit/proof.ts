/** The lines of an export with proof: one line for each event, newest first, and a last line with the proof. */
import { type Static, type TProperties, Type } from "@sinclair/typebox";
import { HASH_PATTERN, Leaf, MapProof, MONTH_PATTERN, Restart, Retention } from "../../domain/proof/index.ts";
import { organizationEventSchema, userEventSchema } from "./shown-event.ts";

const closed = { additionalProperties: false };
const hash = () => Type.String({ pattern: HASH_PATTERN });
const hashes = () => Type.Array(hash());
const position = (minimum = 1) => Type.Integer({ minimum, maximum: Number.MAX_SAFE_INTEGER });

const place = {
  position: position(),
  /** 128 random bits in hexadecimal. */
  salt: Type.String({ pattern: "^[0-9a-f]{32}$" }),
  chain: hash(),
};

/** The positions of an event's intent and outcome in the chain of the log's owner. */
const eventProofSchema = Type.Object(
  {
    intent: Type.Object(place, closed),
    /** Null if and only if the event is pending. */
    outcome: Type.Union([
      Type.Object(
        {
          ...place,
          /** The member that the intent wrote, present only if the outcome named an organization and a member. */
          intent_member_id: Type.Optional(Type.Union([Type.String(), Type.Null()])),
        },
        closed,
      ),
      Type.Null(),
    ]),
  },
  closed,
);
export type EventProof = Static<typeof eventProofSchema>;

const withProof = <Properties extends TProperties>(properties: Properties) =>
  Type.Object({ ...properties, proof: eventProofSchema }, closed);

export const provenOrganizationEventSchema = withProof(organizationEventSchema.properties);
export const provenUserEventSchema = withProof(userEventSchema.properties);
export type ProvenEvent = Static<typeof provenUserEventSchema> | Static<typeof provenOrganizationEventSchema>;

/** The head of the owner's chain under a leaf, with its proof in the leaf's map, and the leaf's in the tree. */
const earlierHeadSchema = Type.Object(
  {
    leaf: Leaf,
    path: hashes(),
    position: position(0),
    chain: hash(),
    map: MapProof,
    /** The tree that ends with this leaf, present only for the size that the reader asked for. */
    tree: Type.Optional(
      Type.Object(
        {
          root: hash(),
          /** The proof that the tree of the export begins with this tree. */
          consistency: hashes(),
        },
        closed,
      ),
    ),
  },
  closed,
);
export type EarlierHead = Static<typeof earlierHeadSchema>;

const run = { from: position(), to: position(), chain: hash() };

/** A part of the chain that no event line shows: a declaration, or a run of missing entries. */
const remainderSchema = Type.Union([
  Type.Object({ kind: Type.Literal("retention"), ...Retention.properties, ...place }, closed),
  Type.Object({ kind: Type.Literal("restart"), ...Restart.properties, ...place }, closed),
  /** Entries of dropped months that were sealed two days or more before the end of the newest one. */
  Type.Object({ kind: Type.Literal("dropped"), ...run }, closed),
  /** Entries of one dropped month, each with the hash of its content. */
  Type.Object(
    {
      kind: Type.Literal("dropped"),
      ...run,
      month: Type.String({ pattern: MONTH_PATTERN }),
      contents: hashes(),
    },
    closed,
  ),
  /** Entries that a restart gave up. */
  Type.Object({ kind: Type.Literal("lost"), ...run }, closed),
]);
export type Remainder = Static<typeof remainderSchema>;

/** The form of exports that this version writes and reads. */
export const PROOF_FORMAT = 1;

/** The last line of an export with proof. `.github/guides/audit-proof.md` explains it. */
export const proofEndSchema = Type.Object(
  {
    format: Type.Literal(PROOF_FORMAT),
    /** The head of the owner's chain. An owner without entries has position 0 and a chain of zeros. */
    head: Type.Object({ owner: Type.String(), position: position(0), chain: hash() }, closed),
    /** The proof of the head in the map of `leaf`. */
    map: MapProof,
    /** The newest leaf, which is the last one in the tree of `note`; null if nothing was ever sealed. */
    leaf: Type.Union([Leaf, Type.Null()]),
    /** The inclusion proof of `leaf` in the tree of `note`; empty without a note. */
    path: hashes(),
    /** The signed root of the tree; null if the log has no key. */
    note: Type.Union([Type.String(), Type.Null()]),
    /** The newest root that a quorum of the log's witnesses cosigned. */
    cosigned: Type.Optional(
      Type.Object(
        {
          note: Type.String(),
          /** The proof that the larger of the two trees begins with the smaller one. */
          consistency: hashes(),
        },
        closed,
      ),
    ),
    /** The owner's heads under earlier leaves, in the order of their numbers. */
    heads: Type.Array(earlierHeadSchema),
    /** The parts of the chain that no event line shows, in the order of their positions; absent without any. */
    retention: Type.Optional(Type.Array(remainderSchema, { minItems: 1 })),
    /** The verifier keys of the log that signed `note`: `name+hash+key`. */
    keys: Type.Array(Type.String()),
  },
  closed,
);
export type ProofEnd = Static<typeof proofEndSchema>;
