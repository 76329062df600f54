import { Redis, type RedisOptions } from "ioredis";
import { waitFor } from "../time/wait-for.ts";
import type { TestServer } from "./server.ts";
import { startRedis } from "./services.ts";

/** A node of a Redis Cluster, to which a test can send commands directly. */
export interface RedisNode {
  readonly server: TestServer;
  /** Sends a command over a new connection and returns the reply. Rejects after a second: the node may be frozen. */
  ask(...command: string[]): Promise<unknown>;
  /** Sends a command to a node that runs, as `ask` does, but waits as long as a busy node takes. */
  order(...command: string[]): Promise<unknown>;
}

/** A shard of a Redis Cluster: a primary and its replica, which a failover can swap. */
export interface RedisShard {
  readonly nodes: readonly [RedisNode, RedisNode];
  /** Waits until the shard has a primary, and returns that node. */
  primary(): Promise<RedisNode>;
}

export interface RedisCluster {
  readonly url: string;
  readonly shards: readonly RedisShard[];
  shardOf(key: string): Promise<RedisShard>;
  close(): Promise<void>;
}

const SHARDS = 3;
const SLOTS = 16_384;
/** The time without a sign of a primary after which the cluster promotes its replica. */
const NODE_TIMEOUT_MS = "2000";
/** The timeout of a connection to a node that runs. */
const ORDERED_MS = 30_000;

export async function startRedisCluster(): Promise<RedisCluster> {
  const settings = ["--cluster-enabled", "yes", "--cluster-node-timeout", NODE_TIMEOUT_MS];
  // While one shard is missing, the other shards continue to serve.
  settings.push("--cluster-require-full-coverage", "no", "--repl-diskless-sync-delay", "0");
  const servers = await Promise.all(Array.from({ length: 2 * SHARDS }, () => startRedis(settings)));
  const nodes = servers.map(nodeOf);
  await meet(nodes);
  const shards = Array.from({ length: SHARDS }, (_, index) => shardOf(nodes, index));
  return {
    url: `redis+cluster://${servers.map(({ url }) => new URL(url).host).join()}`,
    shards,
    async shardOf(key) {
      const slot = await orderAny(nodes, "CLUSTER", "KEYSLOT", key);
      const shard = shards[Math.floor((Number(slot) * SHARDS) / SLOTS)];
      if (shard === undefined) throw new Error(`No shard has the slot ${slot}.`);
      return shard;
    },
    close: () => Promise.all(servers.map((server) => server.close())).then(() => {}),
  };
}

function nodeOf(server: TestServer): RedisNode {
  return {
    server,
    ask: (...command) => call(server, command, { connectTimeout: 500, commandTimeout: 1_000 }),
    order: (...command) => call(server, command, { connectTimeout: ORDERED_MS }),
  };
}

async function call(
  { url }: TestServer,
  [name = "", ...parameters]: readonly string[],
  timeouts: RedisOptions,
): Promise<unknown> {
  const client = new Redis(url, { retryStrategy: null, ...timeouts });
  client.on("error", () => {});
  try {
    return await client.call(name, ...parameters);
  } finally {
    client.disconnect();
  }
}

/** Sends a command to all nodes and returns the first reply. Some of the nodes may be frozen. */
function orderAny(nodes: readonly RedisNode[], ...command: string[]): Promise<unknown> {
  return Promise.any(nodes.map((node) => node.order(...command)));
}

function shardOf(nodes: readonly RedisNode[], index: number): RedisShard {
  const [one, other] = [nodes[index], nodes[SHARDS + index]];
  if (one === undefined || other === undefined) throw new Error("A shard must have two nodes.");
  return {
    nodes: [one, other],
    primary: () =>
      waitFor(
        async () => {
          const roles = await Promise.all([one, other].map((node) => node.ask("ROLE").catch(() => null)));
          const serving = roles.findIndex((role) => Array.isArray(role) && role[0] === "master");
          return [one, other][serving];
        },
        { timeoutMs: 60_000, what: "the election of a primary for the shard" },
      ),
  };
}

/**
 * Joins the nodes into a cluster. The first three nodes become primaries, and each other node becomes the
 * replica of one primary.
 */
async function meet(nodes: readonly RedisNode[]): Promise<void> {
  const ids = await Promise.all(nodes.map((node) => node.order("CLUSTER", "MYID").then(String)));
  const [first] = nodes;
  for (const [index, node] of nodes.entries()) {
    await node.order("CLUSTER", "SET-CONFIG-EPOCH", String(index + 1));
    if (index < SHARDS) {
      const from = Math.ceil((index * SLOTS) / SHARDS);
      const to = Math.ceil(((index + 1) * SLOTS) / SHARDS) - 1;
      await node.order("CLUSTER", "ADDSLOTSRANGE", String(from), String(to));
    }
    const [, bus] = await node
      .order("CONFIG", "GET", "cluster-port")
      .then((reply) => [reply].flat().map(String));
    await first?.order("CLUSTER", "MEET", "127.0.0.1", new URL(node.server.url).port, bus ?? "");
  }
  await everyNode(nodes, (info) => info.includes(`cluster_known_nodes:${nodes.length}`));
  for (const [index, node] of nodes.entries()) {
    if (index >= SHARDS) await node.order("CLUSTER", "REPLICATE", ids[index - SHARDS] ?? "");
  }
  await everyNode(nodes, (info) => info.includes("cluster_state:ok"));
  for (const node of nodes.slice(0, SHARDS)) {
    await waitFor(async () => Number(await node.ask("WAIT", "1", "100")) === 1, {
      timeoutMs: 30_000,
      what: "a replica of each primary",
    });
  }
}

function everyNode(nodes: readonly RedisNode[], holds: (info: string) => boolean): Promise<unknown> {
  return waitFor(
    async () =>
      (await Promise.all(nodes.map((node) => node.ask("CLUSTER", "INFO")))).every((info) =>
        holds(String(info)),
      ),
    { timeoutMs: 60_000, what: "the cluster to be ready" },
  );
}
