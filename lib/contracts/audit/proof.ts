import { type Static, type TProperties, Type } from "@sinclair/typebox";
import { Checkpoint, HASH_PATTERN, SigningJwk } from "../../domain/proof/index.ts";
import { organizationEventSchema, userEventSchema } from "./shown-event.ts";

/** The lines of an export with proof: one for each event, the newest first, and one that ends it. */

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

/** Where the two halves of an event are in the chain of the log's owner; null for one that has no place there. */
export const eventProofSchema = Type.Object(
  {
    intent: Type.Union([
      Type.Object(
        {
          ...place,
          // where an outcome replaced them: what the intent had written
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

/** Checkpoints that an export carries besides the one that holds its head. */
export const RECENT_CHECKPOINTS = 100;

/** The last line: the head of the owner's chain, and what shows that it was sealed. */
export const proofEndSchema = Type.Object(
  {
    /** An owner without entries has position 0 and a chain of zeros. */
    head: Type.Object(
      { owner: Type.String(), position: Type.Integer({ minimum: 0 }), chain: hash() },
      closed,
    ),
    /** The checkpoint that holds this head; null without entries. */
    checkpoint: Type.Union([Checkpoint, Type.Null()]),
    /** Where the head is in the tree of that checkpoint. */
    inclusion: Type.Union([
      Type.Object(
        { index: Type.Integer({ minimum: 0 }), size: Type.Integer({ minimum: 1 }), path: Type.Array(hash()) },
        closed,
      ),
      Type.Null(),
    ]),
    /** The newest checkpoints of the log, newest first. */
    recent_checkpoints: Type.Array(Checkpoint),
    /** Entries of events that were dropped with their months: all of before a time. */
    dropped: Type.Union([
      Type.Object(
        {
          occurred_before: Type.String(),
          /** Runs of places, and the chain at the end of each. */
          ranges: Type.Array(Type.Object({ from: position(), to: position(), chain: hash() }, closed)),
        },
        closed,
      ),
      Type.Null(),
    ]),
    /** The public keys that checkpoints were signed by. */
    keys: Type.Array(SigningJwk),
  },
  closed,
);
export type ProofEnd = Static<typeof proofEndSchema>;
