import { Batches, type Member, rejectEach } from "@ostiary/lib/async";
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { Redis } from "ioredis";
import { type Collection, collectionsOf } from "../../floor/catalog.ts";
import { LIMIT } from "../catalog.ts";
import { Connections } from "./connections.ts";

/** A route of the lean gateway, with the connections to its service. */
export interface LeanRoute extends Collection {
  readonly template: string;
  readonly origin: string;
  /** The connection pool of the service; all routes of the service share it. */
  readonly connections: Connections;
}

/**
 * Returns the routes of all services, by the route's path without its param.
 *
 * @param dropped the response headers to remove, with names in lower case
 */
export function routesAt(origins: readonly string[], dropped: ReadonlySet<string>): Map<string, LeanRoute> {
  const routes = origins.flatMap((origin, service) => {
    const connections = new Connections(origin, dropped);
    return collectionsOf(service).map((collection) => ({
      ...collection,
      origin,
      connections,
      template: `${collection.path}/{thing_id}`,
    }));
  });
  return new Map(routes.map((route) => [route.path, route]));
}

const Caller = Type.Object({ organization_id: Type.String(), labels: Type.Array(Type.String()) });
/** The holder of a key. */
export type Caller = { readonly organization_id: string; readonly labels: readonly string[] };

/**
 * A cache of the callers by key. It asks the identity service once about each key, and never expires entries.
 */
export class Callers {
  readonly #validateUrl: string;
  readonly #known = new Map<string, Caller | null>();

  constructor(validateUrl: string) {
    this.#validateUrl = validateUrl;
  }

  /** Returns the caller that holds the key, or null for an unknown key. */
  holderOf(key: string): Caller | null | Promise<Caller | null> {
    const hash = new Bun.CryptoHasher("sha256").update(key).digest("base64url");
    const known = this.#known.get(hash);
    return known === undefined ? this.#ask(key, hash) : known;
  }

  async #ask(credential: string, hash: string): Promise<Caller | null> {
    const response = await fetch(this.#validateUrl, {
      method: "POST",
      body: JSON.stringify({ credential }),
    });
    const answer: unknown = await response.json();
    const caller = Value.Check(Caller, answer) ? answer : null;
    this.#known.set(hash, caller);
    return caller;
  }
}

const COUNT = `
local answers = {}
for index, key in ipairs(KEYS) do
  local count = redis.call('INCR', key)
  if count == 1 then redis.call('PEXPIRE', key, ARGV[1]) end
  answers[2 * index - 1] = count
  answers[2 * index] = redis.call('PTTL', key)
end
return answers
`;

/** The number of requests in the current rate limit window, and the time until the window ends. */
export interface Window {
  readonly count: number;
  readonly leftMs: number;
}

/** Rate limit counters in Redis. All increments of one event-loop iteration are sent in one call. */
export class Counts {
  readonly #redis: Redis;
  readonly #script: string;
  readonly #batches = new Batches<string, Window>((batch) => this.#count(batch), { itemsMax: 256 });

  static async connect(url: string): Promise<Counts> {
    const redis = new Redis(url);
    return new Counts(redis, String(await redis.script("LOAD", COUNT)));
  }

  private constructor(redis: Redis, script: string) {
    this.#redis = redis;
    this.#script = script;
  }

  increment(bucket: string): Promise<Window> {
    return this.#batches.add(bucket);
  }

  async #count(batch: readonly Member<string, Window>[]): Promise<void> {
    try {
      const buckets = batch.map(({ item }) => item);
      const windowMs = LIMIT.window_seconds * 1_000;
      const answers: unknown = await this.#redis.evalsha(this.#script, batch.length, ...buckets, windowMs);
      if (!Array.isArray(answers)) throw new Error("Redis did not return a list of counts.");
      batch.forEach(({ resolve }, index) => {
        resolve({ count: Number(answers[2 * index]), leftMs: Number(answers[2 * index + 1]) });
      });
    } catch (error) {
      rejectEach(batch, error);
    }
  }
}
