import { castGrpcError, type Etcd3, EtcdLeaseInvalidError, GRPCUnavailableError } from "etcd3";
import { endsWithin, Loop, systemClock } from "../../../async/index.ts";
import { StoreUnavailable } from "../errors.ts";
import { type CallOptions, type EtcdCall, isErrorResponse } from "./etcd-connection.ts";
import type { LeaseOptions } from "./route-store.ts";

type LeaseCall = <T>(operation: string, call: EtcdCall<T>, options: CallOptions) => Promise<T>;

/** The minimum time between two writes. Only the last value is written. */
const WRITE_GAP_MS = 250;
const SIGNS_OF_LIFE = 4;
/** The minimum deadline of a call. The deadline is one renewal interval, so that another call follows in time. */
const CALL_MS_MIN = 1_000;
/** A renewal is due after nine tenths of its interval, because a timer may fire slightly early. */
const DUE_EARLIER = 0.9;
/** The number of times to live after which an unchanged value is written again, in case others changed the key. */
const LIVES_PER_WRITE = 6;
const RETRY_MS = 250;
const RELEASE_MS = 2_000;

/**
 * One key with a lease, which a loop renews, or replaces if etcd has lost it. The loop also ensures that the key has
 * the latest value and belongs to the lease. It never reads, so its user needs no right to read.
 */
export class EtcdLease {
  readonly #key: Buffer;
  readonly #options: LeaseOptions;
  readonly #call: LeaseCall;
  readonly #loop: Loop;
  readonly #lifeMs: number;
  readonly #callMs: number;
  readonly #rewriteMs: number;
  #value: Buffer | null = null;
  /** Null if there is no lease. */
  #id: string | null = null;
  /** The time of the next renewal, as `systemClock.elapsedMs` counts time. */
  #dueMs = 0;
  /** The value that etcd has acknowledged for this lease, and the time. */
  #written: { value: Buffer | null; atMs: number } | null = null;
  /** Leases of writes without a response. A node that was silent may still execute such a write. */
  readonly #doubtful = new Set<string>();
  #isFailing = false;

  constructor(key: string, options: LeaseOptions, call: LeaseCall) {
    this.#key = Buffer.from(key);
    this.#options = options;
    this.#call = call;
    this.#lifeMs = (options.ttlSeconds * 1_000) / SIGNS_OF_LIFE;
    this.#callMs = Math.max(this.#lifeMs, CALL_MS_MIN);
    this.#rewriteMs = options.ttlSeconds * 1_000 * LIVES_PER_WRITE;
    this.#loop = new Loop({
      task: () => this.#hold(),
      pauseMs: this.#lifeMs,
      gapMs: WRITE_GAP_MS,
      retryMs: RETRY_MS,
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
    if (this.#id !== null) this.#doubtful.add(this.#id);
    await endsWithin(Promise.all(Array.from(this.#doubtful, (id) => this.#revoke(id))), RELEASE_MS);
  }

  abandon(): void {
    void this.#loop.stop();
  }

  #write<T>(operation: string, write: EtcdCall<T>): Promise<T> {
    return this.#call(operation, write, { timeoutMs: this.#callMs, once: true });
  }

  async #hold(): Promise<void> {
    const isHeld =
      this.#id !== null && (await this.#showLife(this.#id)) && (await this.#writeValue(this.#id));
    if (!isHeld) await this.#writeValue(await this.#grant());
    if (this.#doubtful.size > 0) await this.#refuseLateWrites();
    if (this.#isFailing) this.#options.onRecovery();
    this.#isFailing = false;
  }

  /** Ends doubtful leases, so that etcd refuses their writes. One of the writes may already have replaced the value. */
  async #refuseLateWrites(): Promise<void> {
    for (const id of this.#doubtful) {
      await this.#revoke(id);
      this.#doubtful.delete(id);
    }
    this.#written = null;
    if (this.#id !== null) await this.#writeValue(this.#id);
  }

  async #revoke(id: string): Promise<void> {
    const revoke: EtcdCall<unknown> = (client, deadline) =>
      client.leaseClient.leaseRevoke({ ID: id }, { deadline });
    await this.#write("lease_revoke", revoke).catch((error) => {
      if (!isLeaseOver(error)) throw error;
    });
  }

  /** Returns false if etcd no longer has the lease. */
  async #showLife(id: string): Promise<boolean> {
    const askedMs = systemClock.elapsedMs();
    if (askedMs < this.#dueMs) return true;
    const lasts = await this.#call(
      "lease_keep_alive",
      (client, deadline) => keepAlive(client, id, deadline),
      { timeoutMs: this.#callMs },
    );
    this.#dueMs = askedMs + this.#lifeMs * DUE_EARLIER;
    return lasts;
  }

  async #grant(): Promise<string> {
    const { ttlSeconds } = this.#options;
    this.#id = null;
    this.#written = null;
    const askedMs = systemClock.elapsedMs();
    const { ID } = await this.#write("lease_grant", (client, deadline) =>
      client.leaseClient.leaseGrant({ TTL: ttlSeconds }, { deadline }),
    );
    this.#id = ID;
    this.#dueMs = askedMs + this.#lifeMs * DUE_EARLIER;
    return ID;
  }

  /** Writes the latest value, attached to the lease, if a write is due. Returns false if the lease has ended. */
  async #writeValue(lease: string): Promise<boolean> {
    const { key, value } = { key: this.#key, value: this.#value };
    const writtenMs = this.#written?.value === value ? this.#written.atMs : Number.NEGATIVE_INFINITY;
    const atMs = systemClock.elapsedMs();
    if (value === null || atMs - writtenMs < this.#rewriteMs) return true;
    try {
      await this.#write("lease_put", (client, deadline) =>
        client.kv.put({ key, value, lease }, { deadline }),
      );
      this.#written = { value, atMs };
      return true;
    } catch (error) {
      if (isLeaseOver(error)) return false;
      if (isWithoutResponse(error)) {
        this.#doubtful.add(lease);
        this.#id = null;
      }
      throw error;
    }
  }
}

/**
 * Returns false if the lease has ended: its time to live is 0. The client closes its side of the stream after one
 * request, so etcd ends the stream like any other call.
 */
async function keepAlive(client: Etcd3, id: string, deadline: number): Promise<boolean> {
  const stream = await client.leaseClient.leaseKeepAlive({ deadline });
  const { promise, resolve, reject } = Promise.withResolvers<boolean>();
  stream.on("data", ({ TTL }) => resolve(Number(TTL) > 0));
  stream.on("error", (error) => reject(castGrpcError(error)));
  stream.on("end", () => reject(new GRPCUnavailableError("The node ended the stream.")));
  stream.write({ ID: id });
  stream.end();
  return promise;
}

function isLeaseOver(error: unknown): boolean {
  return error instanceof Error && (error instanceof EtcdLeaseInvalidError || isLeaseOver(error.cause));
}

/** Returns whether a write may still be executed. A node that has refused it, such as a full one, will not. */
function isWithoutResponse(error: unknown): boolean {
  return !isErrorResponse(error instanceof StoreUnavailable ? error.cause : error);
}
