import type { Scope } from "../domain/routes/index.ts";
import type { CredentialHeader, JsonObject } from "../openapi/index.ts";

const key = (description: string) => ({ type: "apiKey", in: "header", name: "X-API-Key", description });

/** The credentials that the gateway accepts (GW-33). */
const securitySchemes = {
  PersonToken: {
    type: "http",
    scheme: "bearer",
    bearerFormat: "JWT",
    description: "A person's token from the identity provider.",
  },
  PersonKey: key("A person's API key."),
  MemberKey: key("An API key of a member or a service account of an organization."),
  MemberSession: key("A session: a short-lived credential of a member, created by the person."),
} as const satisfies Record<string, JsonObject>;

type SchemeName = keyof typeof securitySchemes;

const OF_MEMBERS: readonly SchemeName[] = ["MemberKey", "MemberSession"];
const SCHEMES: Readonly<Record<Scope, readonly SchemeName[]>> = {
  public: [],
  user: ["PersonToken", "PersonKey"],
  organization: OF_MEMBERS,
  member: OF_MEMBERS,
};

export function securityOf(scope: Scope): JsonObject[] {
  return SCHEMES[scope].map((name) => ({ [name]: [] }));
}

export function schemesOf(scopes: ReadonlySet<Scope>): JsonObject {
  const names = new Set([...scopes].flatMap((scope) => SCHEMES[scope]));
  return Object.fromEntries([...names].map((name) => [name, securitySchemes[name]]));
}

/** Returns the credential header of curl commands, or null for a public route. */
export function credentialHeaderOf(scope: Scope): CredentialHeader | null {
  if (scope === "public") return null;
  return scope === "user"
    ? { name: "Authorization", isBearer: true, variable: "TOKEN" }
    : { name: "X-API-Key", variable: "API_KEY" };
}
