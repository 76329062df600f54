import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { base64url } from "jose";
import { parseIJson } from "../json/index.ts";
import { canonicalJson } from "./canonical-json.ts";
import { HASH_PATTERN, hexOf, sha256 } from "./chain.ts";
import { type CheckpointKey, type SigningJwk, signedTextOf, signerOf, signText } from "./signature.ts";

const hash = (description: string) =>
  Type.String({ pattern: HASH_PATTERN, description, examples: [hexOf(sha256("an example"))] });

/** The content of a checkpoint (AU-56). */
const CheckpointPayload = Type.Object(
  {
    number: Type.Integer({
      minimum: 1,
      description: "The number of the checkpoint, counted from 1.",
      examples: [4711],
    }),
    sealed_at: Type.String({
      description: "The time when the checkpoint was made. RFC 3339, UTC, milliseconds.",
      examples: ["2026-01-31T12:00:00.000Z"],
      openapi: { format: "date-time" },
    }),
    previous: hash("SHA-256 of the previous checkpoint; 64 zeros in the first one."),
    map: Type.Optional(hash("The root of the Merkle map from every owner to the head of the owner's chain.")),
    heads: Type.Optional(
      hash(
        "In checkpoints of older versions of Ostiary, in place of map: the root of the Merkle tree over the owners whose chains became longer.",
      ),
    ),
  },
  { additionalProperties: false },
);
type CheckpointPayload = Static<typeof CheckpointPayload>;

/** A checkpoint as it is served and stored. */
export const Checkpoint = Type.Object(
  {
    ...CheckpointPayload.properties,
    jws: Type.Union([Type.String(), Type.Null()], {
      description:
        "The signed form: a compact JWS (EdDSA) of the other fields, or null if no key was configured.",
      examples: ["eyJhbGciOiJFZERTQSIsImtpZCI6I…"],
    }),
  },
  {
    additionalProperties: false,
    title: "AuditCheckpoint",
    description: "The state of all chains at one moment.",
  },
);
export type Checkpoint = Static<typeof Checkpoint>;

const TYPE = "audit-checkpoint";

/**
 * Returns the text of a checkpoint: its JWS, or the payload of an unsigned checkpoint. The next checkpoint
 * contains the SHA-256 of this text.
 */
export function checkpointText({ jws, ...payload }: Checkpoint): string {
  return jws ?? canonicalJson(payload);
}

export function checkpointHash(checkpoint: Checkpoint): string {
  return hexOf(sha256(checkpointText(checkpoint)));
}

export async function signedCheckpoint(
  payload: CheckpointPayload,
  key: CheckpointKey | null,
): Promise<Checkpoint> {
  const jws = key === null ? null : await signText(canonicalJson(payload), TYPE, key);
  return { ...payload, jws };
}

/**
 * The reason why a checkpoint fails verification. `unsigned`: it has no signature. `unknown_key`: it names
 * none of the trusted keys. `other_content`: its fields differ from the signed text.
 */
export type CheckpointProblem = "unsigned" | "unknown_key" | "wrong_signature" | "other_content";

/**
 * Returns the id of the key that a checkpoint names as its signer. Returns null if the checkpoint is unsigned
 * or its text is not a JWS.
 */
export function keyIdOf({ jws }: Checkpoint): string | null {
  return jws === null ? null : signerOf(jws);
}

/**
 * Returns the reason why a checkpoint fails verification. Returns null if one of `keys` signed the checkpoint
 * and its fields match the signed text.
 */
export async function checkpointProblem(
  checkpoint: Checkpoint,
  keys: readonly SigningJwk[],
): Promise<CheckpointProblem | null> {
  if (checkpoint.jws === null) return "unsigned";
  const kid = keyIdOf(checkpoint);
  const key = keys.find((candidate) => candidate.kid === kid);
  if (key === undefined) return kid === null ? "wrong_signature" : "unknown_key";
  const payload = await signedTextOf(checkpoint.jws, TYPE, key);
  if (payload === null) return "wrong_signature";
  const { jws: _, ...said } = checkpoint;
  return payload === canonicalJson(said) ? null : "other_content";
}

/** Reads a checkpoint from its text alone; returns null for any other text. */
export function readCheckpoint(text: string): Checkpoint | null {
  const jws = text.startsWith("{") ? null : text;
  try {
    const payload: unknown = parseIJson(jws === null ? text : payloadText(jws));
    return Value.Check(CheckpointPayload, payload) ? { ...payload, jws } : null;
  } catch {
    return null;
  }
}

function payloadText(jws: string): string {
  return new TextDecoder().decode(base64url.decode(jws.split(".")[1] ?? ""));
}
