import { freshDatabase } from "../stores/services.ts";
import { startProcess } from "./start-process.ts";

/** The identity service as a process, with methods that create users, organizations and credentials. */
export interface DirectoryProcess {
  readonly validateUrl: string;
  /** Calls the public port and returns the parsed response. Throws unless the status is 2xx. */
  call(method: string, path: string, body?: object): Promise<Record<string, unknown>>;
  /**
   * Returns the user id of an identity provider's subject. The service creates the user if the subject is
   * new.
   */
  person(issuer: string, subject: string): Promise<string>;
  /** Creates an organization that the user owns. Returns its id and the id of the user's membership. */
  organization(user_id: string): Promise<{ id: string; member_id: string }>;
  /**
   * Creates an API key under the URL path `owner`, such as `/users/{user_id}`. Returns the key and the path
   * of the request that revokes the key.
   */
  key(owner: string): Promise<{ key: string; path: string }>;
  session(user_id: string, organization_id: string): Promise<string>;
  kill(): Promise<void>;
  stop(): Promise<number>;
}

export async function startDirectory(env: Record<string, string> = {}): Promise<DirectoryProcess> {
  const running = await startProcess("apps/identity/main.ts", {
    DATABASE_URL: await freshDatabase(),
    ROLES_FILE: "seeds/roles.yaml",
    APIKEY_BRAND: "acme",
    ...env,
  });
  const validateUrl = `${running.internalUrl}/internal/credentials/validate`;
  const ask = async (method: string, url: string, body?: object) => {
    const headers = {
      "content-type": "application/json",
      "x-platform-internal-token": env.INTERNAL_AUTH_TOKEN ?? "",
    };
    const response = await fetch(url, { method, headers, body: body && JSON.stringify(body) });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${url}: ${response.status} ${text}`);
    return { headers: response.headers, body: text === "" ? {} : JSON.parse(text) };
  };
  const call = async (method: string, path: string, body?: object) =>
    (await ask(method, `${running.url}${path}`, body)).body;
  return {
    validateUrl,
    call,
    async person(issuer, subject) {
      const { body } = await ask("POST", validateUrl, { idp: { issuer, subject } });
      return body.user_id;
    },
    async organization(user_id) {
      const created = await ask("POST", `${running.url}/users/${user_id}/organizations`, { name: "Acme" });
      return { id: created.body.id, member_id: created.headers.get("x-platform-audit-member") ?? "" };
    },
    async key(owner) {
      const { id, key } = await call("POST", `${owner}/api-keys`, {});
      return { key, path: `${owner}/api-keys/${id}` };
    },
    async session(user_id, organization_id) {
      return (await call("POST", `/users/${user_id}/organizations/${organization_id}/session`)).token;
    },
    kill: running.kill,
    stop: running.stop,
  };
}
