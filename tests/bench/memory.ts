import { freePort } from "../support/free-port.ts";
import type { Bench, BenchOptions } from "./bench.ts";
import { Bed, type Started } from "./gateway/bed.ts";
import { publicPaths } from "./gateway/catalog.ts";
import { startIdentity } from "./gateway/identity.ts";
import { startGateway } from "./gateway/subjects.ts";
import { type Goal, goalTable, judge } from "./measure/goals.ts";
import { describeMachine, machineLine, residentBytes } from "./measure/machine.ts";
import { spreadOf } from "./measure/statistics.ts";
import { table, whole } from "./measure/table.ts";
import { load } from "./measure/wrk.ts";

const MIB = 1_048_576;
const STREAMS = 1_000;

/** A heap that has seen fewer is still growing to the size that the load needs. */
const WARM_UP_REQUESTS = 200_000;
/** What the collector gets to give back what the load took. */
const SETTLE_MS = 2_000;

const GROWTH: Goal = { title: "memory after the load / before, warmed up", bound: 1.1, at_most: true };
const STREAM: Goal = { title: "an idle event stream, KiB", bound: 32, at_most: true };

/** What the gateway holds: after many requests, and for each event stream that is open. */
export const memory: Bench = {
  summary: "memory of the gateway after two million requests (--quick: 100 000), and of 1 000 event streams",
  async run({ quick, progress }) {
    const machine = describeMachine();
    await using bed = await Bed.create();
    await using identity = await startIdentity();
    const port = await freePort();
    const entry = `${import.meta.dir}/memory/upstream/main.ts`;
    const upstream = await bed.helper([process.execPath, entry, String(port)], port);
    const redis = await bed.redis();
    const gateway = await startGateway(bed, { upstream, redis_url: redis.url, ...identity }, 10);
    const requests = quick ? 100_000 : 2_000_000;
    const figures: [string, number][] = [["at the start", residentBytes(gateway.pid)]];
    const note = async (what: string) => {
      await Bun.sleep(SETTLE_MS);
      const bytes = residentBytes(gateway.pid);
      figures.push([what, bytes]);
      progress(`${what}: ${whole(bytes / MIB)} MiB`);
      return bytes;
    };
    await requestsThrough(gateway, WARM_UP_REQUESTS, progress);
    const early = await note(`after ${whole(WARM_UP_REQUESTS)} requests`);
    await requestsThrough(gateway, requests, progress);
    const late = await note(`after ${whole(requests)} more`);
    const streams = await openStreams(gateway);
    const streaming = await note(`with ${whole(STREAMS)} event streams`);
    streams.close();
    const goals = [
      judge(GROWTH, spreadOf([late / early])),
      judge(STREAM, spreadOf([Math.max(0, streaming - late) / STREAMS / 1024])),
    ];
    const rows = figures.map(([what, bytes]) => [what, whole(bytes / MIB)]);
    const text = [machineLine(machine), "", table(["", "MiB"], rows), "", goalTable(goals)].join("\n");
    return { text, goals, data: { machine, figures: Object.fromEntries(figures), goals } };
  },
};

/** At least so many requests, in runs of some seconds. */
async function requestsThrough(
  { pid, url }: Started,
  count: number,
  progress: BenchOptions["progress"],
): Promise<void> {
  const target = { pid, url, paths: publicPaths, headers: { "User-Agent": "wrk" } };
  for (let done = 0; done < count; ) {
    const seconds = 4;
    const { requests_per_second } = await load(target, seconds);
    done += requests_per_second * seconds;
    progress(`${whole(done)} of ${whole(count)} requests`);
  }
}

/** Opens them all, and resolves when each has begun. By sockets, since fetch bounds how many calls are under way. */
async function openStreams({ url }: Started): Promise<{ close(): void }> {
  const { hostname, port, host } = new URL(url);
  const sockets = await Promise.all(
    Array.from({ length: STREAMS }, async (_, index) => {
      const begun = Promise.withResolvers<void>();
      let answer = "";
      const socket = await Bun.connect({
        hostname,
        port: Number(port),
        socket: {
          data(_, chunk) {
            answer += chunk.toString();
            if (answer.includes("data: open")) begun.resolve();
          },
          close: () => begun.reject(new Error(`A stream ended: ${answer}`)),
        },
      });
      socket.write(`GET /public/things/stream-${index} HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
      await begun.promise;
      return socket;
    }),
  );
  return { close: () => void sockets.map((socket) => socket.terminate()) };
}
