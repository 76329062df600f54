import { type IdentityProvider, startIdentityProvider } from "@ostiary/demo";
import { Semaphore } from "@ostiary/lib/async";
import { INTERNAL_TOKEN_HEADER, VALIDATE_PATH } from "@ostiary/lib/contracts/internal-api";
import { waitFor } from "../../../support/time/wait-for.ts";
import { LIMITS } from "../clients.ts";
import type { Replica } from "./replica.ts";

/** The names of the owners. There are two, so that a wrong admission can reach the other owner's data. */
const OWNERS = ["ada", "bert"] as const;

interface Owner {
  readonly user_id: string;
  readonly organization_id: string;
  readonly member_id: string;
}

/** A caller: its credential, and the ids that the service must see in requests with the credential. */
export interface Caller {
  readonly headers: Readonly<Record<string, string>>;
  readonly user_id: string | null;
  readonly organization_id: string | null;
  readonly member_id: string | null;
  /** The path of the request that revokes the caller's API key; null if the credential is no API key. */
  readonly revocation: string | null;
}

/** The credentials for one cell. No gateway has seen them before. */
export interface Callers {
  readonly keys: readonly Caller[];
  readonly tokens: readonly Caller[];
  /** API keys that are used only once, so that no gateway has them in its cache. */
  readonly unseen: Caller[];
  /** Invalid credentials: unknown keys, revoked keys, and tokens that another identity provider signed. */
  readonly refused: readonly (() => Caller)[];
}

export const INTERNAL_TOKEN = "internal-token-of-these-runs";
const KEYS_AT_ONCE = 4;
const MADE_MS = 20_000;
/** The time after a revocation at which no gateway still has the key in its cache. */
const FORGOTTEN_MS = LIMITS.cacheTtlS * 1000 + 1_000;
export const NOBODY = { user_id: null, organization_id: null, member_id: null, revocation: null };

/**
 * Creates and revokes the people and credentials of a run. It calls one replica of the identity service
 * directly, and only while no fault is injected.
 */
export class People {
  readonly provider: IdentityProvider;
  readonly #impostor: IdentityProvider;
  readonly #identity: Replica;
  #owners: readonly Owner[] = [];
  #cells = 0;
  readonly #retired: { readonly headers: Caller["headers"]; readonly forgottenMs: number }[] = [];

  static async start(identity: Replica): Promise<People> {
    const provider = await startIdentityProvider({ host: "127.0.0.1", port: 0 });
    // The impostor claims the same issuer, but signs tokens with another key.
    const { issuer } = provider;
    const impostor = await startIdentityProvider({ host: "127.0.0.1", port: 0, issuer });
    const people = new People(identity, provider, impostor);
    people.#owners = await Promise.all(OWNERS.map((name) => people.#found(name)));
    return people;
  }

  private constructor(identity: Replica, provider: IdentityProvider, impostor: IdentityProvider) {
    this.#identity = identity;
    this.provider = provider;
    this.#impostor = impostor;
  }

  get organizations(): string[] {
    return this.#owners.map(({ organization_id }) => organization_id);
  }

  async callers(unseen: number): Promise<Callers> {
    const cell = this.#cells++;
    const each = <T>(make: (owner: Owner, index: number) => Promise<T>) =>
      Promise.all(this.#owners.map(make));
    const revoked = await each((owner) => this.#revokedKey(owner));
    const forged = await each((_, index) => this.#token(this.#impostor, `${OWNERS[index]}-${cell}`));
    const retired = this.#retired.filter(({ forgottenMs }) => forgottenMs <= performance.now());
    const refused = [...revoked, ...forged, ...retired.slice(-OWNERS.length).map(({ headers }) => headers)];
    return {
      keys: await each((owner) => this.#key(owner)),
      tokens: await each((_, index) => this.#person(`${OWNERS[index]}-${cell}`)),
      unseen: await this.newKeys(unseen),
      refused: [unknownKey, ...refused.map((headers) => () => ({ ...NOBODY, headers }))],
    };
  }

  /**
   * Revokes keys that gateways have cached. Later cells expect them to be refused, once the cache has
   * expired.
   */
  async retire({ keys }: Callers): Promise<void> {
    for (const { headers, revocation } of keys) {
      if (revocation === null) continue;
      await this.#ask("DELETE", revocation);
      this.#retired.push({ headers, forgottenMs: performance.now() + FORGOTTEN_MS });
    }
  }

  /** Creates API keys, a few at the same time: more would wait for the lock on their owner's row. */
  async newKeys(count: number): Promise<Caller[]> {
    const making = new Semaphore(KEYS_AT_ONCE);
    const owners = Array.from({ length: count }, (_, index) => this.#owners[index % this.#owners.length]);
    return Promise.all(
      owners.flatMap((owner) => (owner === undefined ? [] : [making.run(() => this.#key(owner))])),
    );
  }

  async stop(): Promise<void> {
    await Promise.all([this.provider.stop(), this.#impostor.stop()]);
  }

  async #found(name: string): Promise<Owner> {
    const { user_id } = await this.#person(name);
    if (user_id === null) throw new Error(`Identity returned no user id for ${name}.`);
    const made = await this.#ask("POST", `/users/${user_id}/organizations`, { name });
    return {
      user_id,
      organization_id: textOf(made.body, "id"),
      member_id: made.headers.get("x-platform-audit-member") ?? "",
    };
  }

  /**
   * Creates a person in the identity service, and returns the person with a token of the identity provider.
   */
  async #person(subject: string): Promise<Caller> {
    const idp = { issuer: this.provider.issuer, subject };
    const url = `${this.#identity.internalUrl}${VALIDATE_PATH}`;
    const { body } = await this.#ask("POST", url, { idp });
    const headers = await this.#token(this.provider, subject);
    return { ...NOBODY, headers, user_id: textOf(body, "user_id") };
  }

  async #token({ port }: IdentityProvider, subject: string): Promise<Record<string, string>> {
    const answer = await fetch(`http://127.0.0.1:${port}/token?subject=${subject}`);
    return { authorization: `Bearer ${await answer.text()}` };
  }

  async #key({ organization_id, member_id }: Owner): Promise<Caller> {
    const path = `/members/${member_id}/api-keys`;
    const { body } = await this.#ask("POST", path, {});
    return {
      headers: { "x-api-key": textOf(body, "key") },
      user_id: null,
      organization_id,
      member_id,
      revocation: `${path}/${textOf(body, "id")}`,
    };
  }

  async #revokedKey(owner: Owner): Promise<Caller["headers"]> {
    const { headers, revocation } = await this.#key(owner);
    await this.#ask("DELETE", revocation ?? "");
    return headers;
  }

  async #ask(method: string, path: string, body?: object) {
    // Retry, because on a busy machine identity may refuse requests when it has too many.
    const { response, text } = await waitFor(
      async () => {
        const answer = await fetch(new URL(path, this.#identity.url), {
          method,
          headers: { "content-type": "application/json", [INTERNAL_TOKEN_HEADER]: INTERNAL_TOKEN },
          body: body && JSON.stringify(body),
        });
        const said = await answer.text();
        if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${said}`);
        return { response: answer, text: said };
      },
      { timeoutMs: MADE_MS, what: `${method} ${path} at identity` },
    );
    const parsed: unknown = text === "" ? {} : JSON.parse(text);
    return { headers: response.headers, body: parsed };
  }
}

/**
 * Returns a well-formed API key that does not exist. Each call returns a new one, which no gateway has
 * cached.
 */
function unknownKey(): Caller {
  const secret = Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString("base64url");
  return { ...NOBODY, headers: { "x-api-key": `ostiary-k-2-${secret}` } };
}

function textOf(body: unknown, field: string): string {
  const value = typeof body === "object" && body !== null ? Object.entries(body) : [];
  const found = value.find(([name]) => name === field)?.[1];
  if (typeof found !== "string") throw new Error(`There is no ${field} in ${JSON.stringify(body)}.`);
  return found;
}
