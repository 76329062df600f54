import { expect, test } from "bun:test";
import { atTestEnd } from "../../../support/at-test-end.ts";
import { waitFor } from "../../../support/index.ts";
import { leash } from "../../../support/processes/clean-up-after-kill.ts";
import { Balancer } from "../system/balancer.ts";

/** Starts a replica that responds to each probe with the result of `answer`. */
function startReplica(answer: () => Response | Promise<Response>) {
  const server = Bun.serve({ hostname: "127.0.0.1", port: 0, idleTimeout: 0, fetch: answer });
  atTestEnd(() => server.stop(true));
  return { url: server.url.origin, readyUrl: `${server.url.origin}/health/ready` };
}

function startBalancer(...answers: (() => Response | Promise<Response>)[]): Balancer {
  const balancer = new Balancer(answers.map(startReplica));
  atTestEnd(() => balancer.stop());
  return balancer;
}

/** Returns the indexes of the replicas that get the next requests. */
const chosen = async (balancer: Balancer) =>
  new Set((await Promise.all([1, 2, 3, 4].map(() => balancer.next()))).map(({ replica }) => replica));

const ready = () => new Response();
const notReady = () => new Response(null, { status: 503 });
const silent = () => new Promise<Response>(() => {});

test("a balancer skips a replica that is not ready, and uses all replicas when none is ready", async () => {
  let second = ready;
  const balancer = startBalancer(notReady, () => second());
  await waitFor(async () => !(await chosen(balancer)).has(0), { what: "the first replica to be skipped" });
  expect(await chosen(balancer)).toEqual(new Set([1]));
  second = notReady;
  await waitFor(async () => (await chosen(balancer)).has(0), { what: "all replicas to be used" });
  expect(await chosen(balancer)).toEqual(new Set([0, 1]));
});

test("a balancer skips a replica whose probes get no response", async () => {
  const balancer = startBalancer(silent, ready);
  await waitFor(async () => !(await chosen(balancer)).has(0), { what: "the silent replica to be skipped" });
  expect(await chosen(balancer)).toEqual(new Set([1]));
});

test("a balancer that was suspended sends no request to a replica that is not ready", async () => {
  let [probes, isBusy] = [0, false];
  const doors = [
    startReplica(notReady),
    startReplica(async () => {
      probes += 1;
      // The first response arrives while the balancer's process is suspended for longer than the timeout of a probe.
      if (isBusy && probes === 1) void suspend(1_000);
      else if (isBusy) await Bun.sleep(300);
      return ready();
    }),
  ];
  const script = `
    import { Balancer } from "${import.meta.dir}/../system/balancer.ts";
    const balancer = new Balancer(${JSON.stringify(doors)});
    for (;;) {
      console.log((await balancer.next()).replica);
      await Bun.sleep(10);
    }`;
  const child = Bun.spawn([process.execPath, "-e", script], { stdout: "pipe", stderr: "inherit" });
  leash().process(child.pid);
  atTestEnd(async () => {
    child.kill("SIGKILL");
    await child.exited;
    leash().release(child.pid);
  });
  const suspend = async (ms: number) => {
    child.kill("SIGSTOP");
    await Bun.sleep(ms);
    child.kill("SIGCONT");
  };
  let shown = "";
  void readLines(child.stdout, (text) => {
    shown += text;
  });
  await waitFor(() => shown.endsWith("1\n1\n1\n"), { what: "the first replica to be skipped" });
  [shown, probes, isBusy] = ["", 0, true];
  await waitFor(() => probes > 3, { what: "probes after the suspension" });
  expect(new Set(shown.trim().split("\n"))).toEqual(new Set(["1"]));
});

async function readLines(stream: ReadableStream<Uint8Array>, take: (text: string) => void): Promise<void> {
  const decoder = new TextDecoder();
  for await (const chunk of stream) take(decoder.decode(chunk, { stream: true }));
}
