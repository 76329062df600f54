import { waitFor } from "../../../support/time/wait-for.ts";

/**
 * Creates a person and an organization, and returns the person's session in the organization. Retries,
 * because a gateway on a busy machine may return 503.
 */
export async function newSession(
  identityProviderUrl: string,
  gatewayUrl: string,
  subject: string,
): Promise<string> {
  const token = await (await fetch(`${identityProviderUrl}/token?subject=${subject}`)).text();
  const post = (path: string, body: string) =>
    waitFor(
      async () => {
        const response = await fetch(`${gatewayUrl}${path}`, {
          method: "POST",
          headers: { Authorization: `Bearer ${token}` },
          body,
        });
        const text = await response.text();
        if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`);
        return JSON.parse(text);
      },
      { timeoutMs: 30_000, what: `POST ${path}` },
    );
  const { id } = await post("/user/organizations", JSON.stringify({ name: subject }));
  return (await post(`/user/organizations/${id}/session`, "")).token;
}
