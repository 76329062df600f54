/** The call with which the gateway asks identity to validate a caller's credential (ID-84, ID-87). */
import { type Static, type TProperties, Type } from "@sinclair/typebox";
import { isIJsonText } from "../domain/json/index.ts";
import { PlanName } from "../domain/routes/name-schemas.ts";
import { idField, nullable } from "../domain/schemas/index.ts";

/** The maximum length of a subject, from OpenID Connect Core. The same limit applies to the issuer, a URL. */
export const SUBJECT_LENGTH_MAX = 255;

/** The limits that identity sets for an issuer and a subject. */
const storable = { maxLength: SUBJECT_LENGTH_MAX, pattern: "^[^\\x00-\\x1f\\x7f-\\x9f]+$" };

const WITHOUT_CONTROLS = /^\P{Cc}+$/u;

/** Returns whether identity accepts a text as an issuer or a subject (ID-86). */
export function isStorableSubject(text: string): boolean {
  return text.length <= SUBJECT_LENGTH_MAX && WITHOUT_CONTROLS.test(text) && isIJsonText(text);
}

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
    description: "The identity of a person at an identity provider. A new subject creates the person.",
  },
);
export type IdpSubject = Static<typeof IdpSubject>;

export const IdpValidationRequest = Type.Object({ idp: IdpSubject }, { additionalProperties: false });
export type IdpValidationRequest = Static<typeof IdpValidationRequest>;

export const CredentialValidationRequest = Type.Object(
  {
    credential: Type.String({
      minLength: 1,
      description: "An API key or a session, exactly as the caller sent it.",
      examples: ["ostiary-k-2-4f9mX0Qw7Zr2Yb8Lk3Vn6Hc1Td5Gs0Pj9Ua2Ie7Mo48"],
    }),
  },
  { additionalProperties: false },
);
export type CredentialValidationRequest = Static<typeof CredentialValidationRequest>;

export const ValidationRequest = Type.Union([IdpValidationRequest, CredentialValidationRequest], {
  description: "Exactly one of `idp` and `credential`.",
  examples: [{ idp: { issuer: "https://login.example.com", subject: "auth0|42" } }],
});
export type ValidationRequest = Static<typeof ValidationRequest>;

/** Results allow unknown fields, so identity can be upgraded before its gateways. */
export const InvalidResult = Type.Object(
  { valid: Type.Literal(false, { description: "The credential is not valid." }) },
  {
    title: "Invalid result",
    description: "The credential is invalid: it identifies nobody, or a suspended person.",
  },
);
export type InvalidResult = Static<typeof InvalidResult>;

const expires_at = Type.Optional(
  Type.String({
    description:
      "The time when the session or key expires (RFC 3339). The field is missing if the session or key never expires. A cached result never outlives this time.",
    examples: ["2026-01-31T12:00:00.000Z"],
    openapi: { format: "date-time" },
  }),
);

const valid = Type.Literal(true, { description: "The credential is valid." });
const REALM = "The realm of the credential. It decides in which scopes the credential is accepted.";
const someId = (description: string) => ({ ...idField(description), minLength: 1 });

export const DirectoryResult = Type.Object(
  {
    valid,
    realm: Type.Literal("directory", { description: REALM }),
    user_id: someId("The id of the person."),
    expires_at,
  },
  { title: "Directory result", description: "A person, authenticated by a JWT or a user API key." },
);
export type DirectoryResult = Static<typeof DirectoryResult>;

const OrganizationResult = Type.Object(
  {
    valid,
    realm: Type.Literal("organization", { description: REALM }),
    organization_id: someId("The id of the organization."),
    member_id: someId("The id of the member."),
    labels: Type.Optional(
      Type.Array(Type.String({ examples: ["org:write"] }), {
        description: "The labels that the member's role grants; a missing list grants nothing.",
      }),
    ),
    plan: Type.Optional(
      nullable(PlanName, {
        description: "The plan of the organization. A missing plan and null mean no plan.",
      }),
    ),
    expires_at,
  },
  {
    title: "Organization result",
    description: "A member of an organization, authenticated by a member API key or a session.",
  },
);

export const ValidationResult = Type.Union([DirectoryResult, OrganizationResult, InvalidResult], {
  title: "Validation result",
  description: "The holder of a credential, or `valid: false`.",
});
export type ValidationResult = Static<typeof ValidationResult>;

const readmits = Type.Boolean({
  description:
    "Whether refused credentials may be accepted now: a suspended member or person is active again.",
  examples: [false],
});

const changeOf = <Id extends TProperties>(title: string, id: Id) =>
  Type.Object({ ...id, readmits }, { title, description: "Cached results of this id are void." });

export const AdmissionChange = Type.Union(
  [
    changeOf("Person change", { user_id: someId("The id of the person.") }),
    changeOf("Member change", { member_id: someId("The id of the member.") }),
    changeOf("Organization change", { organization_id: someId("The id of the organization.") }),
  ],
  {
    title: "Admission change",
    description: "The person, member or organization whose credentials, status, role or plan changed.",
  },
);
export type AdmissionChange = Static<typeof AdmissionChange>;

const next = Type.String({
  minLength: 1,
  description: "The cursor for the next request.",
  examples: ["eyJzZXJ2ZXIiOiIxIn0"],
});

export const AdmissionChanges = Type.Union(
  [
    Type.Object(
      {
        changes: Type.Array(AdmissionChange, {
          description: "The changes, at most `limit`. A change can come twice.",
        }),
        next,
      },
      { title: "Changes", description: "The changes since the cursor." },
    ),
    Type.Object(
      {
        reset: Type.Literal(true, { description: "Any admission may have changed since the cursor." }),
        next,
      },
      {
        title: "Reset",
        description: "The cursor is older than an hour, or of a database that was restored or restarted.",
      },
    ),
  ],
  { title: "Admission changes", description: "Changes of admissions, or `reset`." },
);
export type AdmissionChanges = Static<typeof AdmissionChanges>;

/** The maximum number of changes in one response. */
export const ADMISSION_CHANGES_MAX = 1_000;
