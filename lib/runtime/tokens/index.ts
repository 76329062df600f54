export * from "./credential-refusal.ts";
export type { TokenIssuer } from "./issuers.ts";
export { createKeySet, type KeySet } from "./key-set.ts";
export {
  shapeRefusal,
  TENANT_CHARACTERS,
  TENANT_LENGTH_MAX,
  TENANT_PLACE,
  type TokenClaims,
} from "./token-form.ts";
export {
  claimAt,
  createTokenVerifier,
  type VerifiedToken,
  type VerifyToken,
} from "./token-verifier.ts";
