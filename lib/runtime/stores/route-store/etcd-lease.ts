import { endsWithin, Loop, systemClock } from "@ostiary/lib/async";
import { castGrpcError, type Etcd3, EtcdLeaseInvalidError, GRPCUnavailableError } from "etcd3";
import type { LeaseOptions } from "./route-store.ts";

type EtcdCall<T> = (client: Etcd3, deadline: number) => Promise<T>;

/** How a lease speaks with etcd; both reject with `StoreUnavailable` when there is no answer. */
export interface LeaseCalls {
  /** Several nodes may carry it out. */
  call<T>(operation: string, call: EtcdCall<T>): Promise<T>;
  /** Carried out once. */
  write<T>(operation: string, write: EtcdCall<T>): Promise<T>;
}

/** Between two writes: values that follow one another closely are one. */
const WRITE_GAP_MS = 250;
/** Signs of life in the time that a lease lasts without one. */
const SIGNS_OF_LIFE = 4;
/** A run that the loop makes on time must not find that it is a moment too early. */
const DUE_EARLIER = 0.9;
const RETRY_MS = 250;
const RELEASE_MS = 2_000;

/**
 * One leased entry. A loop shows that its holder lives, makes another lease when etcd lost the one there was, and
 * sees to it that the key holds the latest value under it, whatever became of earlier writes.
 */
export class EtcdLease {
  readonly #key: Buffer;
  readonly #options: LeaseOptions;
  readonly #calls: LeaseCalls;
  readonly #loop: Loop;
  readonly #life_ms: number;
  #value: Buffer | null = null;
  /** etcd's number of the lease; null without one. */
  #id: string | null = null;
  /** When a sign of life is due, by `systemClock.elapsed_ms`. */
  #due_ms = 0;
  #isFailing = false;

  constructor(key: string, options: LeaseOptions, calls: LeaseCalls) {
    this.#key = Buffer.from(key);
    this.#options = options;
    this.#calls = calls;
    this.#life_ms = (options.ttl_seconds * 1_000) / SIGNS_OF_LIFE;
    this.#loop = new Loop({
      task: () => this.#hold(),
      pause_ms: this.#life_ms,
      gap_ms: WRITE_GAP_MS,
      retry_ms: RETRY_MS,
      onFailure: (error) => {
        if (!this.#isFailing) options.onFailure(error);
        this.#isFailing = true;
      },
    });
  }

  put(value: string): void {
    this.#value = Buffer.from(value);
    this.#loop.start();
    this.#loop.wake();
  }

  async release(): Promise<void> {
    await endsWithin(this.#loop.stop(), RELEASE_MS);
    const id = this.#id;
    if (id === null) return;
    const revoked = this.#calls.write("lease_revoke", (client, deadline) =>
      client.leaseClient.leaseRevoke({ ID: id }, { deadline }),
    );
    await endsWithin(revoked, RELEASE_MS);
  }

  /** Shows no more life: the entry ends when its time is over. */
  abandon(): void {
    void this.#loop.stop();
  }

  async #hold(): Promise<void> {
    const isHeld = this.#id !== null && (await this.#showLife(this.#id)) && (await this.#write(this.#id));
    if (!isHeld) await this.#write(await this.#grant());
    if (this.#isFailing) this.#options.onRecovery();
    this.#isFailing = false;
  }

  /** Whether the lease lasts, as far as is known: etcd is asked when it is time for a sign of life. */
  async #showLife(id: string): Promise<boolean> {
    const asked_ms = systemClock.elapsed_ms();
    if (asked_ms < this.#due_ms) return true;
    const lasts = await this.#calls.call("lease_keep_alive", (client, deadline) =>
      keepAlive(client, id, deadline),
    );
    this.#due_ms = asked_ms + this.#life_ms * DUE_EARLIER;
    return lasts;
  }

  async #grant(): Promise<string> {
    const { ttl_seconds } = this.#options;
    this.#id = null;
    const asked_ms = systemClock.elapsed_ms();
    const { ID } = await this.#calls.write("lease_grant", (client, deadline) =>
      client.leaseClient.leaseGrant({ TTL: ttl_seconds }, { deadline }),
    );
    this.#id = ID;
    this.#due_ms = asked_ms + this.#life_ms * DUE_EARLIER;
    return ID;
  }

  /** Sees to it that the key holds the value under the lease. False when the lease is over. */
  async #write(lease: string): Promise<boolean> {
    const { key, value } = { key: this.#key, value: this.#value };
    if (value === null) return true;
    try {
      await this.#calls.write("lease_put", (client, deadline) =>
        client.kv.txn(
          {
            compare: [
              { key, target: "Lease", result: "Equal", lease },
              { key, target: "Value", result: "Equal", value },
            ],
            success: [],
            failure: [{ request_put: { key, value, lease } }],
          },
          { deadline },
        ),
      );
      return true;
    } catch (error) {
      if (isLeaseOver(error)) return false;
      throw error;
    }
  }
}

/** Whether the lease lasts: etcd answers with no time left for one that is over. */
async function keepAlive(client: Etcd3, id: string, deadline: number): Promise<boolean> {
  const stream = await client.leaseClient.leaseKeepAlive({ deadline });
  const { promise, resolve, reject } = Promise.withResolvers<boolean>();
  stream.on("data", ({ TTL }) => resolve(Number(TTL) > 0));
  stream.on("error", (error) => reject(castGrpcError(error)));
  stream.on("end", () => reject(new GRPCUnavailableError("The node ended the stream.")));
  stream.write({ ID: id });
  try {
    return await promise;
  } finally {
    stream.cancel();
  }
}

function isLeaseOver(error: unknown): boolean {
  return error instanceof Error && (error instanceof EtcdLeaseInvalidError || isLeaseOver(error.cause));
}
