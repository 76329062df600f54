import { Batches, type Member, rejectEach } from "@ostiary/lib/async";
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { Redis } from "ioredis";
import { type Collection, collectionsOf } from "../../floor/catalog.ts";
import { LIMIT } from "../catalog.ts";
import { Connections } from "./connections.ts";

/** A route with everything that its requests need. */
export interface LeanRoute extends Collection {
  readonly template: string;
  readonly origin: string;
  /** The connections to the service, shared by its routes. */
  readonly connections: Connections;
}

/**
 * Returns the routes of all services by the path of their collection.
 *
 * @param dropped names of headers that no answer has, in lower case
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

/** The callers by key. It asks identity about each key once, and keeps the answer. */
export class Callers {
  readonly #validate_url: string;
  readonly #known = new Map<string, Caller | null>();

  constructor(validate_url: string) {
    this.#validate_url = validate_url;
  }

  /** Returns the caller, or null for a key that nobody holds. */
  holderOf(key: string): Caller | null | Promise<Caller | null> {
    const hash = new Bun.CryptoHasher("sha256").update(key).digest("base64url");
    const known = this.#known.get(hash);
    return known === undefined ? this.#ask(key, hash) : known;
  }

  async #ask(credential: string, hash: string): Promise<Caller | null> {
    const response = await fetch(this.#validate_url, {
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

/** The count of a bucket, with the length of its window. */
export interface Window {
  readonly count: number;
  readonly left_ms: number;
}

/** A counter in Redis. All requests of one turn of the event loop share a call. */
export class Counts {
  readonly #redis: Redis;
  readonly #script: string;
  readonly #batches = new Batches<string, Window>((batch) => this.#count(batch), { items_max: 256 });

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
      const window_ms = LIMIT.window_seconds * 1_000;
      const answers: unknown = await this.#redis.evalsha(this.#script, batch.length, ...buckets, window_ms);
      if (!Array.isArray(answers)) throw new Error("Redis did not answer with counts.");
      batch.forEach(({ resolve }, index) => {
        resolve({ count: Number(answers[2 * index]), left_ms: Number(answers[2 * index + 1]) });
      });
    } catch (error) {
      rejectEach(batch, error);
    }
  }
}
