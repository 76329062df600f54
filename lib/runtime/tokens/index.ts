export * from "./credential-refusal.ts";
export { createKeySet, type KeySet, type KeySetOptions } from "./key-set.ts";
export { shapeRefusal } from "./token-form.ts";
export {
  claimAt,
  createTokenVerifier,
  type TokenRules,
  type VerifiedToken,
  type VerifyToken,
} from "./token-verifier.ts";
