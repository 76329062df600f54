import { freePort } from "../support/free-port.ts";
import type { Bench } from "./bench.ts";
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

const GROWTH: Goal = { title: "memory after the load / after a tenth of it", bound: 1.1, at_most: true };
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
    const note = (what: string) => {
      figures.push([what, residentBytes(gateway.pid)]);
      progress(`${what}: ${whole(residentBytes(gateway.pid) / MIB)} MiB`);
    };
    await requestsThrough(gateway, requests / 10);
    note(`after ${whole(requests / 10)} requests`);
    const early = residentBytes(gateway.pid);
    await requestsThrough(gateway, requests);
    note(`after ${whole(requests)} more`);
    const late = residentBytes(gateway.pid);
    const streams = await openStreams(gateway);
    note(`with ${whole(STREAMS)} event streams`);
    const streaming = residentBytes(gateway.pid);
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
async function requestsThrough({ pid, url }: Started, count: number): Promise<void> {
  const target = { pid, url, paths: publicPaths, headers: { "User-Agent": "wrk" } };
  for (let done = 0; done < count; ) {
    const seconds = 4;
    const { requests_per_second } = await load(target, seconds);
    done += requests_per_second * seconds;
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
