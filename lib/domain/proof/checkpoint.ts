import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { CompactSign, compactVerify, decodeProtectedHeader, errors, importJWK } from "jose";
import { canonicalJson } from "./canonical-json.ts";
import { HASH_PATTERN, hexOf, sha256 } from "./chain.ts";

const hash = (description: string) =>
  Type.String({ pattern: HASH_PATTERN, description, examples: [hexOf(sha256("an example"))] });

/** What a checkpoint says (contract 6, Proof). */
export const CheckpointPayload = Type.Object(
  {
    number: Type.Integer({
      minimum: 1,
      description: "The first is 1, each next one more.",
      examples: [4711],
    }),
    sealed_at: Type.String({
      description: "When it was made. RFC 3339, UTC, milliseconds.",
      examples: ["2026-01-31T12:00:00.000Z"],
      openapi: { format: "date-time" },
    }),
    previous: hash("SHA-256 of the checkpoint before; 64 zeros in the first."),
    heads: hash("The root of the Merkle tree over the owners whose chains became longer."),
  },
  { additionalProperties: false },
);
export type CheckpointPayload = Static<typeof CheckpointPayload>;

/** A checkpoint as it is served and kept. */
export const Checkpoint = Type.Object(
  {
    ...CheckpointPayload.properties,
    jws: Type.Union([Type.String(), Type.Null()], {
      description:
        "The signed form, a compact JWS (EdDSA) whose payload are the fields above; null where no key was configured.",
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

/** A public key as the audit service publishes it, by RFC 8037; `kid` is its thumbprint by RFC 7638. */
export const SigningJwk = Type.Object(
  {
    kty: Type.Literal("OKP", { description: "The kind of key." }),
    crv: Type.Literal("Ed25519", { description: "Its curve." }),
    x: Type.String({
      description: "The public key, base64url.",
      pattern: "^[A-Za-z0-9_-]{43}$",
      examples: ["11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"],
    }),
    kid: Type.String({
      description: "The key's thumbprint by RFC 7638.",
      examples: ["kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k"],
    }),
    alg: Type.Literal("EdDSA", { description: "How it signs." }),
    use: Type.Literal("sig", { description: "What it is for: signatures." }),
  },
  { title: "AuditSigningKey", description: "A public key that checkpoints are signed by." },
);
export type SigningJwk = Static<typeof SigningJwk>;

const ALGORITHM = "EdDSA";
const TYPE = "audit-checkpoint";

/** The text that a checkpoint is: its JWS or, unsigned, its payload. The next checkpoint names the SHA-256 of it. */
export function checkpointText({ jws, number, sealed_at, previous, heads }: Checkpoint): string {
  return jws ?? canonicalJson({ number, sealed_at, previous, heads });
}

export function checkpointHash(checkpoint: Checkpoint): string {
  return hexOf(sha256(checkpointText(checkpoint)));
}

/** Who signs checkpoints. */
export interface CheckpointKey {
  kid: string;
  private_key: CryptoKey;
}

export async function signedCheckpoint(
  payload: CheckpointPayload,
  key: CheckpointKey | null,
): Promise<Checkpoint> {
  if (key === null) return { ...payload, jws: null };
  const jws = await new CompactSign(new TextEncoder().encode(canonicalJson(payload)))
    .setProtectedHeader({ alg: ALGORITHM, kid: key.kid, typ: TYPE })
    .sign(key.private_key);
  return { ...payload, jws };
}

/** `unsigned`: nobody vouches for it. `unknown_key`: none of the given keys is the one it names. */
export type CheckpointFault = "unsigned" | "unknown_key" | "wrong_signature" | "other_content";

/** The key that a signed checkpoint names; null for an unsigned one, or a text that is no JWS. */
export function keyIdOf({ jws }: Checkpoint): string | null {
  if (jws === null) return null;
  try {
    return decodeProtectedHeader(jws).kid ?? null;
  } catch {
    return null;
  }
}

/** What is wrong with a checkpoint by these keys; null when it is signed by one of them and says what it is. */
export async function checkpointFault(
  checkpoint: Checkpoint,
  keys: readonly SigningJwk[],
): Promise<CheckpointFault | null> {
  if (checkpoint.jws === null) return "unsigned";
  const kid = keyIdOf(checkpoint);
  const key = keys.find((candidate) => candidate.kid === kid);
  if (key === undefined) return kid === null ? "wrong_signature" : "unknown_key";
  const payload = await verifiedPayload(checkpoint.jws, key);
  if (payload === null) return "wrong_signature";
  const { jws: _, ...said } = checkpoint;
  return payload === canonicalJson(said) ? null : "other_content";
}

/** What a JWS of this key carries; null when the key did not sign it. */
async function verifiedPayload(jws: string, key: SigningJwk): Promise<string | null> {
  try {
    const { payload, protectedHeader } = await compactVerify(jws, await importJWK(key, ALGORITHM), {
      algorithms: [ALGORITHM],
    });
    return protectedHeader.typ === TYPE ? new TextDecoder().decode(payload) : null;
  } catch (error) {
    if (error instanceof errors.JOSEError || error instanceof TypeError) return null;
    throw error;
  }
}

/** A checkpoint as its text alone tells it; null when the text is none. */
export function readCheckpoint(text: string): Checkpoint | null {
  const jws = text.startsWith("{") ? null : text;
  try {
    const payload: unknown = JSON.parse(jws === null ? text : payloadText(jws));
    return Value.Check(CheckpointPayload, payload) ? { ...payload, jws } : null;
  } catch {
    return null;
  }
}

function payloadText(jws: string): string {
  return Buffer.from(jws.split(".")[1] ?? "", "base64url").toString();
}
