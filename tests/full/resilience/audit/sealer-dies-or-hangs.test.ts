import { describe, expect, test } from "bun:test";
import { type AuditService, auditClient } from "../../../app/audit/bed.ts";
import { exportProof, verify, writeEvents, writeSigningKey } from "../../../app/audit/proof-bed.ts";
import {
  freshDatabase,
  type RunningProcess,
  services,
  startProcess,
  waitFor,
} from "../../../support/index.ts";

// AU-55
describe.skipIf(!services().postgres.real)("a sealer", () => {
  const AUDIT_SIGNING_KEY_FILE = writeSigningKey();

  async function replicas(): Promise<[RunningProcess, RunningProcess, AuditService, AuditService]> {
    const variables = { DATABASE_URL: await freshDatabase(), AUDIT_SIGNING_KEY_FILE };
    const start = () => startProcess("apps/audit/main.ts", variables);
    const client = ({ url, internalUrl }: RunningProcess) =>
      auditClient(variables.DATABASE_URL, url, internalUrl, async () => {});
    const first = await start();
    await writeEvents(client(first), 2);
    // Waits until the first replica has sealed events: it is then the sealer when the second replica starts.
    await sealedBy(client(first), 2);
    const second = await start();
    return [first, second, client(first), client(second)];
  }

  const sealedBy = (audit: AuditService, events: number) =>
    waitFor(async () => (await exportProof(audit)).events.length === events, {
      what: `the seal of ${events} events`,
      timeoutMs: 30_000,
    });

  test("that hangs is replaced by another replica, and does no harm when it continues", async () => {
    const [first, second, stopped, other] = await replicas();
    process.kill(first.pid, "SIGSTOP");
    try {
      await writeEvents(other, 3);
      await sealedBy(other, 5);
    } finally {
      process.kill(first.pid, "SIGCONT");
    }
    await Promise.all([writeEvents(stopped, 20), writeEvents(other, 20)]);
    await sealedBy(other, 45);
    expect(await verify((await exportProof(other)).text)).toMatchObject({
      result: "complete",
    });
    await Promise.all([first.stop(), second.stop()]);
  }, 90_000);
});
