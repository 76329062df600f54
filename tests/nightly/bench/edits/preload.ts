/**
 * Measures event-loop stalls in a gateway: a timer with an interval of 1 ms measures how late it runs. `bun
 * --preload` loads this module before the gateway's code. `GET` on the port `TICKER_PORT` returns the longest
 * stall since the previous `GET`.
 */

const TICK_MS = 1;
const longest = { wall_ms: 0, cpu_ms: 0 };
let last = { wall_ms: performance.now(), cpu: process.threadCpuUsage() };

setInterval(() => {
  const { user, system } = process.threadCpuUsage(last.cpu);
  const now = { wall_ms: performance.now(), cpu: process.threadCpuUsage() };
  longest.wall_ms = Math.max(longest.wall_ms, now.wall_ms - last.wall_ms - TICK_MS);
  longest.cpu_ms = Math.max(longest.cpu_ms, (user + system) / 1_000);
  last = now;
}, TICK_MS).unref();

Bun.serve({
  hostname: "127.0.0.1",
  port: Number(process.env.TICKER_PORT),
  fetch() {
    const response = { ...longest };
    Object.assign(longest, { wall_ms: 0, cpu_ms: 0 });
    return Response.json(response);
  },
}).unref();
