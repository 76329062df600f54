import { type Crowd, type CrowdKind, gatherCrowd } from "../../support/load/crowd.ts";
import { crowdService, startCrowdService } from "../../support/load/crowd-service.ts";
import { RunImpossible } from "../../support/run-impossible.ts";
import type { Bench, BenchOptions } from "./bench.ts";
import { type Identity, startIdentity } from "./gateway/identity.ts";
import { startGateway } from "./gateway/subjects.ts";
import { Bed, type Started } from "./measure/bed.ts";
import { allowedDescriptors, openDescriptors } from "./measure/descriptors.ts";
import { type Goal, judge } from "./measure/goal-table.ts";
import { residentBytes } from "./measure/machine.ts";
import { percentile, spreadOf } from "./measure/statistics.ts";
import { table, whole } from "./measure/table.ts";

const KIB = 1_024;
const SETTLE_MS = 3_000;

interface Kind {
  readonly kind: CrowdKind;
  readonly title: string;
  readonly count: number;
  readonly bound: number;
}

/**
 * The kinds of clients, in the order in which they connect. All clients stay connected until the last kind is
 * measured.
 */
const KINDS: readonly Kind[] = [
  { kind: "kept_alive", title: "an idle keep-alive connection", count: 10_000, bound: 8 },
  { kind: "event_stream", title: "an event stream", count: 1_000, bound: 32 },
  { kind: "websocket", title: "a WebSocket", count: 500, bound: 32 },
  { kind: "slow_writer", title: "a slow writer", count: 500, bound: 64 },
  { kind: "slow_reader", title: "a slow reader", count: 500, bound: 4_096 },
];
/** The divisor of the numbers of clients in a quick run. */
const QUICK_DIVISOR = 5;
/**
 * The descriptors that the gateway needs: one for each idle client, two for each client with a connection to
 * the service, and some for the gateway itself.
 */
const DESCRIPTORS_NEEDED = 10_000 + 2 * 2_500 + 1_000;

const OTHERS: Goal = { title: "p50 of other clients, with the crowd / without", bound: 2, at_most: true };
const FREED: Goal = { title: "memory after the crowd left / with the crowd", bound: 0.8, at_most: true };
const DESCRIPTORS: Goal = { title: "descriptors still open after the crowd left", bound: 100, at_most: true };

/**
 * Measures the memory that each kind of client costs a gateway. Also measures how a crowd of all these
 * clients affects the latency of other clients.
 */
export const connections: Bench = {
  summary: "memory of a gateway for 10 000 idle clients, streams, WebSockets, slow writers and slow readers",
  async run({ quick, progress }) {
    requireDescriptors();
    await using bed = Bed.onTwoCores();
    await using identity = await startIdentity();
    await using ends = new AsyncDisposableStack();
    const service = await startCrowdService();
    ends.defer(() => service.kill());
    const gateway = await startCrowdedGateway(bed, identity, service.url);
    const kinds = KINDS.map((kind) => ({ ...kind, count: quick ? kind.count / QUICK_DIVISOR : kind.count }));
    await (await gatherCrowd(gateway.url, "kept_alive", 1_000)).leave();
    const alone = await latencies(gateway, quick);
    const descriptorsBefore = openDescriptors(gateway.pid);
    const figures: Figure[] = [];
    const crowds: Crowd[] = [];
    for (const kind of kinds) {
      const before = await settledBytes(gateway);
      crowds.push(await gatherCrowd(gateway.url, kind.kind, kind.count));
      const kib = Math.max(0, (await settledBytes(gateway)) - before) / KIB / kind.count;
      figures.push({ ...kind, kib });
      progress(`${whole(kind.count)} × ${kind.title}: ${kib.toFixed(1)} KiB each`);
    }
    const all = crowds.reduce((sum, { open }) => sum + open, 0);
    const together = await latencies(gateway, quick);
    const fullBytes = residentBytes(gateway.pid);
    await Promise.all(crowds.map((crowd) => crowd.leave()));
    const leftBytes = await settledBytes(gateway);
    const goals = [
      ...figures.map(({ title, kib, bound }) =>
        judge({ title: `${title}, KiB`, bound, at_most: true }, spreadOf([kib])),
      ),
      judge(OTHERS, spreadOf([percentile(together, 50) / percentile(alone, 50)])),
      judge(FREED, spreadOf([leftBytes / fullBytes])),
      judge(DESCRIPTORS, spreadOf([openDescriptors(gateway.pid) - descriptorsBefore])),
    ];
    const open = { all, mib: fullBytes / KIB / KIB };
    const rows = figures.map(({ title, count, kib }) => [title, whole(count), kib.toFixed(1)]);
    const parts = [
      table(["", "how many", "KiB each"], rows),
      `${whole(open.all)} clients at once, and the gateway used ${whole(open.mib)} MiB`,
    ];
    return { parts, goals, data: { figures, open } };
  },
};

interface Figure extends Kind {
  readonly kib: number;
}

function requireDescriptors(): void {
  const allowed = allowedDescriptors();
  if (allowed >= DESCRIPTORS_NEEDED) return;
  throw new RunImpossible(
    `This bench needs ${whole(DESCRIPTORS_NEEDED)} descriptors in one process, but the limit is ${whole(allowed)}. ` +
      "Run `ulimit -n 20000` in this shell first, as root if the hard limit (`ulimit -Hn`) is lower.",
  );
}

async function startCrowdedGateway(bed: Bed, identity: Identity, url: string): Promise<Started> {
  const variables = {
    AUDIT_ENABLED: "false",
    RATE_LIMIT_REQUESTS: "0",
    // The gateway must neither reject nor close idle clients, because this bench measures their memory.
    MAX_CONNECTIONS: String(allowedDescriptors()),
    CLIENT_IDLE_TIMEOUT_MS: "255000",
  };
  const behind = { upstream: { url }, redisUrl: (await bed.redis()).url, ...identity };
  return startGateway(bed, behind, [["crowd", crowdService(url)]], { variables });
}

/** Returns the resident memory after a pause in which the gateway can collect garbage. */
async function settledBytes({ pid }: Started): Promise<number> {
  await Bun.sleep(SETTLE_MS);
  return residentBytes(pid);
}

/** Sends requests of another client in sequence, and returns their latencies in milliseconds. */
async function latencies({ url }: Started, quick: BenchOptions["quick"]): Promise<number[]> {
  const taken: number[] = [];
  for (let request = 0; request < (quick ? 200 : 2_000); request += 1) {
    const started = performance.now();
    const response = await fetch(`${url}/crowd/small`);
    await response.bytes();
    if (!response.ok) throw new Error(`Another client's request got ${response.status}.`);
    taken.push(performance.now() - started);
  }
  return taken;
}
