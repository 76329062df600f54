import { type IdentityProvider, startIdentityProvider } from "@ostiary/demo";
import { Semaphore } from "@ostiary/lib/async";
import { INTERNAL_TOKEN_HEADER, VALIDATE_PATH } from "@ostiary/lib/contracts/internal-api";
import { waitFor } from "../../support/wait-for.ts";
import { LIMITS } from "../clients.ts";
import type { Replica } from "./replica.ts";

/** Two owners, so that one could reach the other's data. */
const OWNERS = ["ada", "bert"] as const;

/** A person with an organization. */
interface Owner {
  readonly user_id: string;
  readonly organization_id: string;
  readonly member_id: string;
}

/** A caller: its credential, and the ids that the service may see. */
export interface Caller {
  readonly headers: Readonly<Record<string, string>>;
  readonly user_id: string | null;
  readonly organization_id: string | null;
  readonly member_id: string | null;
  /** The path that revokes its key; null without one. */
  readonly revocation: string | null;
}

/** Credentials for one cell that no gateway has seen. */
export interface Callers {
  readonly keys: readonly Caller[];
  readonly tokens: readonly Caller[];
  /** Keys that are used only once. */
  readonly unseen: Caller[];
  /**
   * Refused credentials: unknown keys, keys that were revoked before or after their use, and tokens of
   * another provider.
   */
  readonly refused: readonly (() => Caller)[];
}

export const INTERNAL_TOKEN = "internal-token-of-these-runs";
const KEYS_AT_ONCE = 4;
const MADE_MS = 20_000;
/** The time after a revocation at which no gateway caches the key any more. */
const FORGOTTEN_MS = LIMITS.cache_ttl_s * 1000 + 1_000;
export const NOBODY = { user_id: null, organization_id: null, member_id: null, revocation: null };

/** The people of a run, as identity knows them. It calls one replica directly, while the system is well. */
export class People {
  readonly provider: IdentityProvider;
  readonly #impostor: IdentityProvider;
  readonly #identity: Replica;
  #owners: readonly Owner[] = [];
  #cells = 0;
  readonly #retired: { readonly headers: Caller["headers"]; readonly forgotten_ms: number }[] = [];

  static async start(identity: Replica): Promise<People> {
    const provider = await startIdentityProvider({ host: "127.0.0.1", port: 0 });
    // A provider with the same issuer, but its own key.
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

  /** The ids of the owners' organizations. */
  get organizations(): string[] {
    return this.#owners.map(({ organization_id }) => organization_id);
  }

  async callers(unseen: number): Promise<Callers> {
    const cell = this.#cells++;
    const each = <T>(make: (owner: Owner, index: number) => Promise<T>) =>
      Promise.all(this.#owners.map(make));
    const revoked = await each((owner) => this.#revokedKey(owner));
    const forged = await each((_, index) => this.#token(this.#impostor, `${OWNERS[index]}-${cell}`));
    const retired = this.#retired.filter(({ forgotten_ms }) => forgotten_ms <= performance.now());
    const refused = [...revoked, ...forged, ...retired.slice(-OWNERS.length).map(({ headers }) => headers)];
    return {
      keys: await each((owner) => this.#key(owner)),
      tokens: await each((_, index) => this.#person(`${OWNERS[index]}-${cell}`)),
      unseen: await this.#newKeys(unseen),
      refused: [unknownKey, ...refused.map((headers) => () => ({ ...NOBODY, headers }))],
    };
  }

  /** Revokes keys that gateways know. They count as refused once no gateway may admit them. */
  async retire({ keys }: Callers): Promise<void> {
    for (const { headers, revocation } of keys) {
      if (revocation === null) continue;
      await this.#ask("DELETE", revocation);
      this.#retired.push({ headers, forgotten_ms: performance.now() + FORGOTTEN_MS });
    }
  }

  /** Creates a few keys at a time, because their makers share a row. */
  async #newKeys(count: number): Promise<Caller[]> {
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
    if (user_id === null) throw new Error(`${name} is nobody.`);
    const made = await this.#ask("POST", `/users/${user_id}/organizations`, { name });
    return {
      user_id,
      organization_id: textOf(made.body, "id"),
      member_id: made.headers.get("x-platform-audit-member") ?? "",
    };
  }

  /** Returns a person with a token of the provider, known to identity. */
  async #person(subject: string): Promise<Caller> {
    const idp = { issuer: this.provider.issuer, subject };
    const url = `${this.#identity.internal_url}${VALIDATE_PATH}`;
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
    // On a busy machine identity may refuse too many requests at once.
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
      { timeout_ms: MADE_MS, what: "What a cell needs of identity" },
    );
    const parsed: unknown = text === "" ? {} : JSON.parse(text);
    return { headers: response.headers, body: parsed };
  }
}

/** Returns a new well-formed key each time, so that no gateway has cached an answer. */
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
