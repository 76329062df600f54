import { type IdentityProvider, startIdentityProvider } from "@ostiary/demo";
import { Semaphore } from "@ostiary/lib/async";
import { Random } from "../../../support/random.ts";
import { LIMITS } from "../clients.ts";
import { Directory, type Founder } from "./directory.ts";
import type { Replica } from "./replica.ts";

/** The subjects of the owners' tokens. There are two, so that a wrong admission can reach the other owner's data. */
const OWNERS = ["ada", "bert"] as const;

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

const KEYS_AT_ONCE = 4;
const NOT_FOUND = 404;
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
  readonly #directory: Directory;
  #owners: readonly Founder[] = [];
  #cells = 0;
  readonly #retired: { readonly headers: Caller["headers"]; readonly forgottenMs: number }[] = [];

  static async start(identity: Replica): Promise<People> {
    const provider = await startIdentityProvider({ host: "127.0.0.1", port: 0 });
    // The impostor claims the same issuer, but signs tokens with another key.
    const { issuer } = provider;
    const impostor = await startIdentityProvider({ host: "127.0.0.1", port: 0, issuer });
    const people = new People(new Directory([identity], issuer, new Random(1)), provider, impostor);
    people.#owners = await Promise.all(OWNERS.map(() => people.#directory.found()));
    return people;
  }

  private constructor(directory: Directory, provider: IdentityProvider, impostor: IdentityProvider) {
    this.#directory = directory;
    this.provider = provider;
    this.#impostor = impostor;
  }

  get organizations(): string[] {
    return this.#owners.map(({ organization_id }) => organization_id);
  }

  async callers(unseen: number): Promise<Callers> {
    const cell = this.#cells++;
    const each = <T>(make: (owner: Founder, index: number) => Promise<T>) =>
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
      await this.#revoke(revocation);
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

  /**
   * Creates a person in the identity service, and returns the person with a token of the identity provider.
   */
  async #person(subject: string): Promise<Caller> {
    const user_id = await this.#directory.person(subject);
    return { ...NOBODY, headers: await this.#token(this.provider, subject), user_id };
  }

  async #token({ port }: IdentityProvider, subject: string): Promise<Record<string, string>> {
    const response = await fetch(`http://127.0.0.1:${port}/token?subject=${subject}`);
    return { authorization: `Bearer ${await response.text()}` };
  }

  async #key({ organization_id, member_id }: Founder): Promise<Caller & { readonly revocation: string }> {
    const { id, secret } = await this.#directory.key(member_id);
    return {
      headers: { "x-api-key": secret },
      user_id: null,
      organization_id,
      member_id,
      revocation: `/members/${member_id}/api-keys/${id}`,
    };
  }

  async #revokedKey(owner: Founder): Promise<Caller["headers"]> {
    const { headers, revocation } = await this.#key(owner);
    await this.#revoke(revocation);
    return headers;
  }

  async #revoke(path: string): Promise<void> {
    await this.#directory.insist({ method: "DELETE", path }, NOT_FOUND);
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
