export * from "./credential-refusal.ts";
export { createKeySet, type KeySet } from "./key-set.ts";
export { shapeRefusal } from "./token-form.ts";
export {
  claimAt,
  createTokenVerifier,
  type VerifiedToken,
  type VerifyToken,
} from "./token-verifier.ts";
