import { freePort } from "../http/free-port.ts";
import { leash } from "../processes/clean-up-after-kill.ts";
import { waitFor } from "../time/wait-for.ts";

/**
 * Starts, as a process of its own, the service that a crowd calls. Measurements of this process then exclude
 * the service.
 */
export async function startCrowdService(): Promise<{ url: string; stop(): Promise<void> }> {
  const port = freePort();
  const { PATH = "", HOME = "" } = process.env;
  const child = Bun.spawn([process.execPath, `${import.meta.dir}/crowd-service.ts`, String(port)], {
    env: { PATH, HOME },
    stdio: ["ignore", "ignore", "inherit"],
  });
  leash().process(child.pid);
  const url = `http://127.0.0.1:${port}`;
  await waitFor(async () => (await fetch(url)).ok, {
    timeoutMs: 60_000,
    what: "the service that a crowd calls",
  });
  return {
    url,
    async stop() {
      child.kill("SIGKILL");
      await child.exited;
      leash().release(child.pid);
    },
  };
}
