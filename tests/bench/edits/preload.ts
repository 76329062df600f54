/**
 * A module that is loaded into a gateway before its own code. A timer of 1 ms measures the longest turn of
 * the event loop. `GET` on the port that `TICKER_PORT` names returns the longest turn since the last call.
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
    const answer = { ...longest };
    Object.assign(longest, { wall_ms: 0, cpu_ms: 0 });
    return Response.json(answer);
  },
}).unref();
