import {
  authIssuer,
  httpUrl,
  integer,
  internalAuthToken,
  optionalHttpUrl,
  optionalList,
  optionalText,
  tlsVariables,
} from "@ostiary/lib/runtime/config";
import { type Static, Type } from "@sinclair/typebox";

/** The rule for the name of the claim that identifies a person (GW-47). */
export const CLAIM_PATH = {
  pattern: "^[^.]+(\\.[^.]+)*$",
  rule: "must be the name of a claim, such as sub or properties.user_id",
} as const;

export const admissionVariables = {
  AUTH_ISSUER: Type.Optional(
    authIssuer(
      "The exact `iss` of accepted JWTs. Without this variable and without AUTH_ISSUERS_FILE, the gateway never becomes ready.",
    ),
  ),
  AUTH_JWKS_URI: optionalHttpUrl(
    "The URL of the identity provider's key set (JWKS), which AUTH_ISSUER requires.",
  ),
  ...tlsVariables("AUTH_JWKS"),
  AUTH_ISSUERS_FILE: optionalText("must be the path of an issuers file", {
    description:
      "The YAML file with several issuers, in place of AUTH_ISSUER, AUTH_JWKS_URI, AUTH_ALLOWED_AUDIENCES and AUTH_USER_ID_CLAIM. Read at start.",
  }),
  AUTH_ALLOWED_AUDIENCES: optionalList(
    "must be audiences, separated by commas",
    () => true,
    "The audiences of this gateway. The `aud` of a JWT must contain one of them. Unset: `aud` is not checked.",
  ),
  AUTH_USER_ID_CLAIM: optionalText(CLAIM_PATH.rule, {
    pattern: CLAIM_PATH.pattern,
    description:
      "The claim that identifies the person, with dots between names of nested claims; default: sub. Do not change it after the first sign-in.",
  }),
  CREDENTIAL_VALIDATE_URL: httpUrl("The URL at which identity validates credentials."),
  ...tlsVariables("CREDENTIAL_VALIDATE"),
  INTERNAL_AUTH_TOKEN: internalAuthToken(),
  VALIDATE_TIMEOUT_MS: integer(
    { default: 2_000, min: 1, max: 60_000 },
    "The maximum time of a credential validation.",
  ),
  APIKEY_CACHE_TTL_SECS: integer(
    { default: 300, min: 0, max: 86_400 },
    "How long the gateway caches a validated credential. While the gateway cannot reach identity, a revoked key can be accepted for this time; an expired one never is.",
  ),
  ADMISSION_CHANGES_WAIT_MS: integer(
    { default: 10_000, min: 0, max: 30_000 },
    "The maximum time of one request that waits for changes of admissions at identity. Values above 500 count as 500, so that a dead connection is noticed. 0: the gateway reads no changes, and a revoked key can be accepted for APIKEY_CACHE_TTL_SECS.",
  ),
  ADMISSION_CACHE_ENTRIES: integer(
    { default: 100_000, min: 1, max: 1_000_000 },
    "The maximum number of entries in each admission cache, which drops the least recently used first.",
  ),
};

const admissionSchema = Type.Object(admissionVariables);
export type AdmissionConfig = Static<typeof admissionSchema>;
