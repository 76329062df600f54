/** The call by which the gateway asks identity who a caller is (contract 4, Admission): both ends share it. */
import { type Static, Type } from "@sinclair/typebox";
import { idField } from "../domain/schemas/index.ts";

/** OpenID Connect Core gives a subject at most 255 characters; an issuer is a URL, and gets as many. */
export const SUBJECT_LENGTH_MAX = 255;

/** What identity takes of both; the gateway, which says what a token says, does not judge it. */
const storable = { maxLength: SUBJECT_LENGTH_MAX, pattern: "^[^\\x00-\\x1f\\x7f-\\x9f]+$" };

/** A verified JWT's issuer and subject claim; a new pair creates the person. */
export const IdpSubject = Type.Object(
  {
    issuer: Type.String({
      minLength: 1,
      description: "The token's issuer, as configured at the gateway.",
      examples: ["https://login.example.com"],
      openapi: storable,
    }),
    subject: Type.String({
      minLength: 1,
      description: "The value of the subject claim.",
      examples: ["auth0|42"],
      openapi: storable,
    }),
  },
  {
    additionalProperties: false,
    title: "Idp subject",
    description: "A person as an identity provider knows it; a new subject creates the person.",
  },
);
export type IdpSubject = Static<typeof IdpSubject>;

export const IdpValidationRequest = Type.Object({ idp: IdpSubject }, { additionalProperties: false });
export type IdpValidationRequest = Static<typeof IdpValidationRequest>;

export const CredentialValidationRequest = Type.Object(
  {
    credential: Type.String({
      minLength: 1,
      description: "An API key or session, as presented.",
      examples: ["ostiary-k-2-4f9mX0Qw7Zr2Yb8Lk3Vn6Hc1Td5Gs0Pj9Ua2Ie7Mo48"],
    }),
  },
  { additionalProperties: false },
);
export type CredentialValidationRequest = Static<typeof CredentialValidationRequest>;

/** Exactly one of the two forms. */
export const ValidationRequest = Type.Union([IdpValidationRequest, CredentialValidationRequest], {
  description: "Exactly one of `idp` and `credential`.",
  examples: [{ idp: { issuer: "https://login.example.com", subject: "auth0|42" } }],
});
export type ValidationRequest = Static<typeof ValidationRequest>;

/** Results stay open to fields that a later identity service adds, so that a gateway need not be upgraded first. */
export const InvalidResult = Type.Object(
  { valid: Type.Literal(false, { description: "It stands for nobody." }) },
  {
    title: "Invalid result",
    description: "A credential that stands for nobody, or a person who is suspended.",
  },
);
export type InvalidResult = Static<typeof InvalidResult>;

const expiresAt = Type.Optional(
  Type.String({
    description:
      "RFC 3339. Sent for a session and for a key that will expire: a cached result never outlives it.",
    examples: ["2026-01-31T12:00:00.000Z"],
    openapi: { format: "date-time" },
  }),
);

const valid = Type.Literal(true, { description: "It stands for somebody." });
const REALM = "What the credential belongs to, which decides the scopes that accept it.";
const someId = (description: string) => ({ ...idField(description), minLength: 1 });

/** A person, proved by a JWT or by a user API key. */
export const DirectoryResult = Type.Object(
  {
    valid,
    realm: Type.Literal("directory", { description: REALM }),
    user_id: someId("The person."),
    expires_at: expiresAt,
  },
  { title: "Directory result", description: "A person, proved by a JWT or by a user API key." },
);
export type DirectoryResult = Static<typeof DirectoryResult>;

/** A member of an organization, proved by a member API key or a session. */
export const OrganizationResult = Type.Object(
  {
    valid,
    realm: Type.Literal("organization", { description: REALM }),
    organization_id: someId("The organization."),
    member_id: someId("The member."),
    labels: Type.Optional(
      Type.Array(Type.String({ examples: ["org:write"] }), {
        description: "What the member's role grants; a missing list grants nothing.",
      }),
    ),
    expires_at: expiresAt,
  },
  {
    title: "Organization result",
    description: "A member of an organization, proved by a member API key or a session.",
  },
);
export type OrganizationResult = Static<typeof OrganizationResult>;

export const ValidationResult = Type.Union([DirectoryResult, OrganizationResult, InvalidResult], {
  title: "Validation result",
  description: "Whom a credential stands for, or that it is not valid.",
});
export type ValidationResult = Static<typeof ValidationResult>;
