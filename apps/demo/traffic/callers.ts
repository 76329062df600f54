import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";

/** Credentials of each kind for one organization. */
export interface Callers {
  /** A person's token from the toy identity provider. */
  readonly person: string;
  /** A session of the organization's owner. */
  readonly session: string;
  /** An API key of a service account with a read-only role. */
  readonly reader: string;
}

interface CallersOptions {
  gatewayUrl: string;
  identityProviderUrl: string;
  signal: AbortSignal;
}

const WithId = Type.Object({ id: Type.String() });
const WithToken = Type.Object({ token: Type.String() });
const WithKey = Type.Object({ key: Type.String() });

/** Creates a person, an organization and a service account through the gateway, as customers do. */
export async function foundCallers(options: CallersOptions): Promise<Callers> {
  const { gatewayUrl, identityProviderUrl, signal } = options;
  const token = await fetch(`${identityProviderUrl}/token?subject=traffic`, { signal });
  if (!token.ok) throw new Error(`The identity provider responded with ${token.status}.`);
  const person = await token.text();
  const asPerson = { Authorization: `Bearer ${person}` };
  const make = async (path: string, headers: Record<string, string>, body: object): Promise<unknown> => {
    const answer = await fetch(gatewayUrl + path, {
      method: "POST",
      headers: { ...headers, "Content-Type": "application/json" },
      body: JSON.stringify(body),
      signal,
    });
    if (!answer.ok) throw new Error(`POST ${path} failed with ${answer.status}.`);
    return answer.json();
  };
  const founded = await make("/user/organizations", asPerson, { name: "Traffic" });
  const { id } = Value.Parse(WithId, founded);
  const opened = await make(`/user/organizations/${id}/session`, asPerson, {});
  const session = Value.Parse(WithToken, opened).token;
  const asOwner = { "X-API-Key": session };
  const account = await make("/org/service-accounts", asOwner, { name: "Reader", role: "viewer" });
  const keys = `/org/service-accounts/${Value.Parse(WithId, account).id}/api-keys`;
  const reader = Value.Parse(WithKey, await make(keys, asOwner, { name: "Traffic" })).key;
  return { person, session, reader };
}
