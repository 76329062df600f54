import { INTERNAL_TOKEN_HEADER } from "@ostiary/lib/contracts/internal-api";
import postgres from "postgres";
import { INTERNAL_TOKEN } from "../faults/system/people.ts";
import { answerOf, type Replica } from "../faults/system/replica.ts";
import { ADMIN_TOKEN, type System } from "../faults/system/system.ts";
import { ROOT } from "../support/root.ts";
import { waitFor } from "../support/wait-for.ts";
import { RELEASES, WORKING_TREE } from "./releases.ts";

const SERVICE = "novel";
const PATH = "/novel";
const SEEN_MS = 60_000;
/** The lifetime of the expiring key: the minimum that identity allows. */
const LIFETIME_S = 60;
/**
 * The time after which the key has expired for every process, with a margin for differences between clocks.
 */
const EXPIRED_MS = (LIFETIME_S + 2) * 1000;
const OK = 200;
const UNAUTHORIZED = 401;
const UNAVAILABLE = 503;
/** The first release, which does not support keys that expire. */
const [WITHOUT_EXPIRY] = RELEASES;

/**
 * Uses two new features of a newer version: a new field in a document, and keys that expire. Before a
 * downgrade, it does what the guide asks for: it restores the service without the field, and revokes expired
 * keys.
 */
export class Novelties {
  readonly #system: System;
  #key: { readonly secret: string; readonly expiredMs: number } | null = null;
  /** The revision without the new field; null before the field is used. */
  #withoutField: number | null = null;

  constructor(system: System) {
    this.#system = system;
  }

  /**
   * Uses the features that are new in `version`, after all services have this version. Returns a description
   * of each problem.
   */
  async brokenIn(version: string): Promise<string[]> {
    if (version === WORKING_TREE) await this.#useField();
    if (version !== WITHOUT_EXPIRY.version) this.#key ??= await this.#createKey();
    const broken: string[] = [];
    for (const { name, url } of this.#system.gateways) {
      if (this.#withoutField !== null && (await decisionOf(url + PATH)) !== OK) {
        broken.push(`novelties: ${name} does not serve the service that has or had a new field`);
      }
      if (this.#key === null || performance.now() < this.#key.expiredMs) continue;
      const status = await decisionOf(`${url}/things/limited`, this.#key.secret);
      if (status !== UNAUTHORIZED) broken.push(`novelties: an expired key got ${status} at ${name}`);
    }
    return broken;
  }

  /** Does what the upgrade guide and the change log require before a downgrade to `version`. */
  async beforeGoingBack(version: string): Promise<void> {
    if (this.#withoutField !== null) await this.#restore(this.#withoutField);
    if (version !== WITHOUT_EXPIRY.version) return;
    const leftMs = (this.#key?.expiredMs ?? 0) - performance.now();
    if (leftMs > 0) await Bun.sleep(leftMs);
    const changes = await Bun.file(`${ROOT}/.github/CHANGELOG.md`).text();
    const [, statement = ""] = /^### Going back\n.*?```sql\n(.*?)```/ms.exec(changes) ?? [];
    const sql = postgres(this.#system.postgres.server.url, { max: 1, onnotice: () => {} });
    await sql.unsafe(statement);
    await sql.end();
  }

  /** Publishes a service, and then a revision with a field that the previous version does not support. */
  async #useField(): Promise<void> {
    if (this.#withoutField === null) this.#withoutField = await this.#publish(undefined);
    await this.#publish({ requests: 1_000_000, period: "day" });
  }

  async #publish(rate_limit: object | undefined): Promise<number> {
    const route = { path: PATH, upstream: "/public", methods: ["GET"], ...(rate_limit && { rate_limit }) };
    const config = { url: this.#system.upstream.link.url, public: { routes: [route] } };
    const revision = await this.#ask("PUT", `/services/${SERVICE}`, config);
    for (const gateway of this.#system.gateways) await served(gateway);
    return revision;
  }

  async #restore(revision: number): Promise<void> {
    await this.#ask("POST", `/services/${SERVICE}/revisions/${revision}/restore`);
  }

  /** Sends a request to a registry until it succeeds, and returns the revision in the response. */
  async #ask(method: string, path: string, body?: object): Promise<number> {
    const headers = { authorization: `Bearer ${ADMIN_TOKEN}`, "content-type": "application/json" };
    const text = await insist(async () => (await this.#system.nextRegistry()).url + path, {
      method,
      headers,
      body: body && JSON.stringify(body),
    });
    return Number(/"revision":\s*(\d+)/.exec(text)?.[1]);
  }

  async #createKey() {
    const { keys } = await this.#system.people.callers(0);
    const [identity] = this.#system.identity;
    const text = await insist(() => `${identity?.url}/members/${keys[0]?.member_id}/api-keys`, {
      method: "POST",
      headers: { "content-type": "application/json", [INTERNAL_TOKEN_HEADER]: INTERNAL_TOKEN },
      body: JSON.stringify({ expires_in_seconds: LIFETIME_S }),
    });
    const [, secret] = /"key":\s*"([^"]+)"/.exec(text) ?? [];
    if (secret === undefined) throw new Error(`Identity created no expiring key: ${text}`);
    // Use the key once at each gateway while it is valid, so that the gateways have it in their cache.
    for (const { url } of this.#system.gateways) await statusOf(`${url}/things/limited`, secret);
    return { secret, expiredMs: performance.now() + EXPIRED_MS };
  }
}

/** Waits until a gateway serves the route with the new field. */
async function served({ url, name }: Replica): Promise<void> {
  await waitFor(async () => (await answerOf(url + PATH)) === 200, {
    timeoutMs: SEEN_MS,
    what: `${PATH} at ${name}`,
  });
}

/**
 * Returns the status of a GET, with a key if there is one. Repeats the request after a 503: it decides nothing
 * about a route or a key, because the gateway or a service behind it was only too busy.
 */
function decisionOf(url: string, key?: string): Promise<number> {
  const decided = async () => {
    const status = await statusOf(url, key);
    return status !== UNAVAILABLE && status;
  };
  return waitFor(decided, { timeoutMs: SEEN_MS, what: `a response other than 503 of ${url}` });
}

async function statusOf(url: string, key?: string): Promise<number> {
  const answer = await fetch(url, { headers: key === undefined ? {} : { "x-api-key": key } });
  await answer.arrayBuffer();
  return answer.status;
}

/** Sends a request until it succeeds, because a service may be too busy for it. Returns the body. */
function insist(urlOf: () => string | Promise<string>, init: RequestInit): Promise<string> {
  const succeeded = async () => {
    const url = await urlOf();
    const answer = await fetch(url, init);
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${init.method} ${url}: ${answer.status} ${text}`);
    return text;
  };
  return waitFor(succeeded, { timeoutMs: SEEN_MS, what: "a service to accept a request" });
}
