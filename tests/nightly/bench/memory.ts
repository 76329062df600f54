import { freePort } from "../../support/http/free-port.ts";
import type { Bench, BenchOptions } from "./bench.ts";
import { Bed, type Started } from "./gateway/bed.ts";
import { publicPaths } from "./gateway/catalog.ts";
import { startIdentity } from "./gateway/identity.ts";
import { startGateway } from "./gateway/subjects.ts";
import { type Goal, goalTable, judge } from "./measure/goal-table.ts";
import { describeMachine, machineLine, residentBytes } from "./measure/machine.ts";
import { spreadOf } from "./measure/statistics.ts";
import { table, whole } from "./measure/table.ts";
import { load, type Target } from "./measure/wrk.ts";

const MIB = 1_048_576;
const STREAMS = 1_000;

/** The number of requests before the first reading. With fewer, the heap still grows to its working size. */
const WARM_UP_REQUESTS = 200_000;
/** The pause before a reading, in which the garbage collector can return memory to the system. */
const SETTLE_MS = 2_000;
/**
 * The number of readings. The result is their median, because the heap size varies with the last garbage
 * collection.
 */
const LOOKS = 5;

const GROWTH: Goal = { title: "memory after the load / before, warmed up", bound: 1.05, at_most: true };
const STREAM: Goal = { title: "an idle event stream, KiB", bound: 32, at_most: true };

/**
 * Measures whether the gateway's memory grows with the number of requests, and how much memory an open event
 * stream needs.
 */
export const memory: Bench = {
  summary: "memory of the gateway after two million requests (--quick: 100 000), and of 1 000 event streams",
  async run({ quick, progress }) {
    const machine = describeMachine();
    await using bed = await Bed.create();
    await using identity = await startIdentity();
    const port = freePort();
    const entry = `${import.meta.dir}/memory/upstream/main.ts`;
    const upstream = await bed.helper([process.execPath, entry, String(port)], port);
    const redis = await bed.redis();
    const gateway = await startGateway(bed, { upstream, redisUrl: redis.url, ...identity }, 10);
    const requests = quick ? 100_000 : 2_000_000;
    const figures: [string, number][] = [["at the start", residentBytes(gateway.pid)]];
    const note = async (what: string) => {
      await Bun.sleep(SETTLE_MS);
      const bytes = residentBytes(gateway.pid);
      figures.push([what, bytes]);
      progress(`memory ${what}: ${whole(bytes / MIB)} MiB`);
      return bytes;
    };
    const looks = async (what: string) => {
      const bytes: number[] = [];
      for (let look = 1; look <= LOOKS; look++) {
        await load(targetOf(gateway), 1);
        bytes.push(await note(`${what}, reading ${look}`));
      }
      return spreadOf(bytes).median;
    };
    await requestsThrough(gateway, WARM_UP_REQUESTS, progress);
    const early = await looks(`after ${whole(WARM_UP_REQUESTS)} requests`);
    await requestsThrough(gateway, requests, progress);
    const late = await looks(`after ${whole(requests)} more`);
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

function targetOf({ pid, url }: Started): Target {
  return { pid, url, paths: publicPaths, headers: { "User-Agent": "wrk" } };
}

/** Sends at least `count` requests. */
async function requestsThrough(
  gateway: Started,
  count: number,
  progress: BenchOptions["progress"],
): Promise<void> {
  for (let done = 0; done < count; ) {
    const seconds = 4;
    const { requests_per_second } = await load(targetOf(gateway), seconds);
    done += requests_per_second * seconds;
    progress(`${whole(done)} of ${whole(count)} requests`);
  }
}

/**
 * Opens all event streams, and resolves when each has sent its first event. Uses sockets, because `fetch`
 * limits the number of concurrent calls.
 */
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
          close: () =>
            begun.reject(new Error(`The gateway closed an event stream before its first event: ${answer}`)),
        },
      });
      socket.write(`GET /public/things/stream-${index} HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
      await begun.promise;
      return socket;
    }),
  );
  return { close: () => void sockets.map((socket) => socket.terminate()) };
}
