/** The lines of an export with proof: one line for each event, newest first, and a last line with the proof. */
import { type Static, type TProperties, Type } from "@sinclair/typebox";
import {
  ChainRange,
  Checkpoint,
  HASH_PATTERN,
  MapProof,
  Retention,
  SigningJwk,
} from "../../domain/proof/index.ts";
import { organizationEventSchema, userEventSchema } from "./shown-event.ts";

const closed = { additionalProperties: false };
const hash = () => Type.String({ pattern: HASH_PATTERN });
const position = () => Type.Integer({ minimum: 1 });
const nullableText = () => Type.Union([Type.String(), Type.Null()]);

const place = {
  position: position(),
  /** 128 random bits in hexadecimal. */
  salt: Type.String({ pattern: "^[0-9a-f]{32}$" }),
  chain: hash(),
};

/**
 * The positions of an event's intent and outcome in the chain of the log's owner. An intent or outcome that
 * is not in this chain is null.
 */
const eventProofSchema = Type.Object(
  {
    intent: Type.Union([
      Type.Object(
        {
          ...place,
          // The ids in the intent, present only if the outcome replaced them.
          organization_id: Type.Optional(nullableText()),
          member_id: Type.Optional(nullableText()),
        },
        closed,
      ),
      Type.Null(),
    ]),
    outcome: Type.Union([Type.Object(place, closed), Type.Null()]),
  },
  closed,
);
export type EventProof = Static<typeof eventProofSchema>;

const withProof = <Properties extends TProperties>(properties: Properties) =>
  Type.Object({ ...properties, proof: eventProofSchema }, closed);

export const provenOrganizationEventSchema = withProof(organizationEventSchema.properties);
export const provenUserEventSchema = withProof(userEventSchema.properties);
export type ProvenEvent = Static<typeof provenUserEventSchema> | Static<typeof provenOrganizationEventSchema>;

/**
 * The number of recent checkpoints in an export, in addition to the checkpoint that contains the owner's
 * head.
 */
export const RECENT_CHECKPOINTS = 100;

/**
 * The owner's head at an earlier checkpoint. An owner without entries has position 0 and a chain of zeros.
 */
const earlierHeadSchema = Type.Object(
  {
    checkpoint: Checkpoint,
    position: Type.Integer({ minimum: 0 }),
    chain: hash(),
    map: MapProof,
    /** The inclusion proof of the checkpoint in the tree of the export; absent in files without a tree. */
    path: Type.Optional(Type.Array(hash())),
  },
  closed,
);
export type EarlierHead = Static<typeof earlierHeadSchema>;

/** The proofs that the tree of all checkpoints contains the checkpoints of an export. */
const proofTreeSchema = Type.Object(
  {
    /** The signed root of the tree, as a note. */
    note: Type.String(),
    /** The inclusion proof of the export's checkpoint. */
    path: Type.Array(hash()),
    /**
     * The checkpoint that the reader requested, with proofs about the tree that ends with this checkpoint.
     */
    asked: Type.Optional(
      Type.Object(
        {
          checkpoint: Checkpoint,
          path: Type.Array(hash()),
          /** The root of the tree that ends with the requested checkpoint. */
          root: hash(),
          /** The consistency proof between the tree of `root` and the tree of the export. */
          consistency: Type.Array(hash()),
        },
        closed,
      ),
    ),
    /** The newest root that a quorum of the log's witnesses cosigned; absent without witnesses. */
    cosigned: Type.Optional(
      Type.Object(
        {
          /** The signed root as a note, with the signature lines of the witnesses. */
          note: Type.String(),
          /** The consistency proof between the tree of this root and the tree of the export. */
          consistency: Type.Array(hash()),
        },
        closed,
      ),
    ),
  },
  closed,
);
export type ProofTree = Static<typeof proofTreeSchema>;

/** The last line of an export with proof: the head of the owner's chain, and the proof that the head was sealed. */
export const proofEndSchema = Type.Object(
  {
    /** The head of the owner's chain. An owner without entries has position 0 and a chain of zeros. */
    head: Type.Object(
      { owner: Type.String(), position: Type.Integer({ minimum: 0 }), chain: hash() },
      closed,
    ),
    /** The newest checkpoint, or null if the log has no checkpoint yet. */
    checkpoint: Type.Union([Checkpoint, Type.Null()]),
    /** The proof that the map of the checkpoint contains the head; absent in files of older versions. */
    map: Type.Optional(MapProof),
    /**
     * The proofs in the tree of checkpoints; absent without a signing key, and in files of older versions.
     */
    tree: Type.Optional(proofTreeSchema),
    /** The heads of the owner under earlier checkpoints, in the order of their numbers. */
    heads: Type.Optional(Type.Array(earlierHeadSchema)),
    /**
     * The inclusion proof of the head in the tree of its checkpoint. Only files of older versions have one.
     */
    inclusion: Type.Union([
      Type.Object(
        { index: Type.Integer({ minimum: 0 }), size: Type.Integer({ minimum: 1 }), path: Type.Array(hash()) },
        closed,
      ),
      Type.Null(),
    ]),
    /** The newest checkpoints of the log, newest first. */
    recent_checkpoints: Type.Array(Checkpoint),
    /** The declarations of the months that were dropped, in chain order; absent if there are none. */
    retention: Type.Optional(Type.Array(Type.Object({ ...Retention.properties, ...place }, closed))),
    /**
     * The ranges of entries that were dropped before declarations existed. No declaration proves these
     * ranges.
     */
    dropped: Type.Union([
      Type.Object({ occurred_before: Type.String(), ranges: Type.Array(ChainRange) }, closed),
      Type.Null(),
    ]),
    /** The public keys that verify the checkpoints. */
    keys: Type.Array(SigningJwk),
  },
  closed,
);
export type ProofEnd = Static<typeof proofEndSchema>;
