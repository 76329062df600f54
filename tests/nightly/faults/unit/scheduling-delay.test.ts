import { expect, test } from "bun:test";
import { waitFor } from "../../../support/index.ts";
import { CLIENTS_PROCESS, SchedulingDelay } from "../scheduling-delay.ts";

/** Blocks this process, as a machine without a free processor would. */
function block(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

test("a delay of this process counts for requests in flight during the delay, and for no others", async () => {
  const delay = new SchedulingDelay(() => new Map([["clients' own", process.pid]]));
  const from = performance.now();
  block(400);
  const to = performance.now();
  await waitFor(() => delay.between(from, to, [CLIENTS_PROCESS]) >= 300, { what: "the measured delay" });
  expect(delay.between(from, to, [])).toBe(0);
  expect(delay.between(from, to, ["an unknown process"])).toBe(0);
  delay.forget(to);
  expect(delay.between(to + 60_000, to + 60_000, [CLIENTS_PROCESS])).toBe(0);
  delay.stop();
});

test("a process that has ended has no delay", async () => {
  const ended = Bun.spawn(["true"]);
  await ended.exited;
  const delay = new SchedulingDelay(() => new Map([["ended", ended.pid]]));
  const from = performance.now();
  await waitFor(() => performance.now() - from > 120);
  expect(delay.between(from, performance.now(), ["ended"])).toBe(0);
  delay.stop();
});
