/** Tests of a Redis Cluster in which a primary dies, freezes or hands over, or a shard loses both nodes. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  type CounterStore,
  openCounterStore,
  StoreUnavailable,
} from "@ostiary/lib/runtime/stores/counter-store";
import { services, waitFor } from "../../../support/index.ts";
import {
  type RedisCluster,
  type RedisNode,
  type RedisShard,
  startRedisCluster,
} from "../../../support/stores/redis-cluster.ts";

/** The maximum time from a promotion to the first successful count. */
const BACK_MS = 5_000;
const WINDOW_SECONDS = 3_600;

describe.skipIf(!services().redis.binary)("a Redis Cluster of three primaries and three replicas", () => {
  let cluster: RedisCluster;
  let store: CounterStore;
  let buckets = 0;

  beforeAll(async () => {
    cluster = await startRedisCluster();
    store = await openCounterStore(cluster.url);
  });
  afterAll(async () => {
    await store.close();
    await cluster.close();
  });

  const count = (bucket: string) => store.increment(bucket, WINDOW_SECONDS).then((counted) => counted.count);

  const outcome = (bucket: string) =>
    count(bucket).catch((error) => {
      if (error instanceof StoreUnavailable) return "unavailable" as const;
      throw error;
    });

  /**
   * Returns a bucket with the count 3, which both nodes of its shard have, and one unused bucket of each
   * other shard.
   */
  async function newBuckets(): Promise<{ bucket: string; shard: RedisShard; others: string[] }> {
    const bucket = `bucket ${buckets++}`;
    const shard = await cluster.shardOf(bucket);
    const others: string[] = [];
    for (const other of cluster.shards) {
      if (other === shard) continue;
      for (let tried = 0; ; tried++) {
        const name = `other ${buckets} ${tried}`;
        if ((await cluster.shardOf(name)) !== other) continue;
        others.push(name);
        break;
      }
    }
    for (const expected of [1, 2, 3]) {
      expect(await waitFor(() => count(bucket), { timeoutMs: 30_000, what: "a count" })).toBe(expected);
    }
    const primary = await shard.primary();
    await waitFor(async () => Number(await primary.ask("WAIT", "1", "100")) === 1, { timeoutMs: 30_000 });
    return { bucket, shard, others };
  }

  const otherNode = ({ nodes: [one, other] }: RedisShard, node: RedisNode) => (node === one ? other : one);

  const isPrimary = async (node: RedisNode) => [await node.ask("ROLE")].flat()[0] === "master";

  /** Promotes a replica. Returns false if Redis aborts the promotion, which it does after five seconds. */
  const promote = async (node: RedisNode) => {
    if (await isPrimary(node)) return true;
    await node.ask("CLUSTER", "FAILOVER");
    return waitFor(() => isPrimary(node), { timeoutMs: 6_000 }).catch(() => false);
  };

  const faults: [string, (node: RedisNode) => Promise<void>, (node: RedisNode) => Promise<void>][] = [
    ["dies", ({ server }) => server.kill(), ({ server }) => server.restart()],
    ["freezes", ({ server }) => server.freeze(), ({ server }) => server.thaw()],
  ];
  for (const [fault, breakIt, mend] of faults) {
    test(`refuses buckets of a primary that ${fault} until its replica serves, which continues the counts`, async () => {
      const { bucket, shard, others } = await newBuckets();
      const primary = await shard.primary();
      const replica = otherNode(shard, primary);
      await breakIt(primary);
      expect(await outcome(bucket)).toBe("unavailable");
      for (const expected of [1, 2, 3]) for (const other of others) expect(await count(other)).toBe(expected);
      await store.ping();
      await waitFor(() => isPrimary(replica), { timeoutMs: 60_000, what: "the promotion of the replica" });
      const promoted = performance.now();
      const first = await waitFor(() => count(bucket), { timeoutMs: 30_000, what: "a count" });
      expect(performance.now() - promoted).toBeLessThan(BACK_MS);
      // The count does not include the refused call. The frozen node may have executed the call, but the
      // writes of that node are discarded after the failover.
      expect(first).toBe(4);
      await mend(primary);
      await waitFor(async () => !(await isPrimary(primary)), {
        timeoutMs: 60_000,
        what: "the old primary to become a replica",
      });
      for (const expected of [5, 6, 7]) expect(await count(bucket)).toBe(expected);
      await waitFor(async () => Number(await replica.ask("WAIT", "1", "100")) === 1, { timeoutMs: 60_000 });
    });
  }

  test("counts each call once or refuses it while an operator promotes a replica", async () => {
    const { bucket, shard } = await newBuckets();
    const primary = await shard.primary();
    const replica = otherNode(shard, primary);
    const counted: number[] = [];
    let refused = 0;
    let ended = false;
    const clients = Array.from({ length: 8 }, async () => {
      while (!ended) {
        const result = await outcome(bucket);
        if (result !== "unavailable") counted.push(result);
        else {
          refused += 1;
          // A refusal can settle without I/O, so a loop without this pause would block the event loop.
          await new Promise(setImmediate);
        }
      }
    });
    await waitFor(() => counted.length > 200);
    await waitFor(() => promote(replica), { timeoutMs: 60_000, what: "the promotion of the replica" });
    const before = counted.length;
    await waitFor(() => counted.length > before + 200, { timeoutMs: 30_000 });
    ended = true;
    await Promise.all(clients);
    expect(new Set(counted).size).toBe(counted.length);
    const last = await count(bucket);
    expect(last).toBeGreaterThanOrEqual(counted.length + 4);
    expect(last).toBeLessThanOrEqual(counted.length + refused + 4);
  });
});
