import { describe, expect, test } from "bun:test";
import { restartChain } from "@ostiary/audit/restart";
import { declarationHash, hashFromHex, hexOf, nextInChain } from "@ostiary/lib/domain/proof";
import { rows } from "@ostiary/lib/runtime/stores/database";
import { sql } from "drizzle-orm";
import { type AuditService, logOf, openLog } from "../../../app/audit/bed.ts";
import { deliveriesTo, newReceiver, partsOf, startWith } from "../../../app/audit/operator-bed.ts";
import { exportProof, tamperWith, writeEvents } from "../../../app/audit/proof-bed.ts";
import { passDeps } from "../../../app/audit/retention-bed.ts";
import {
  bodiesOf,
  callStreams,
  type DeliveredBody,
  ProvingReceiver,
  START,
  STREAMS,
  startStreamingAudit,
  streamVariables,
  type TestReceiver,
} from "../../../app/audit/streams-bed.ts";
import { atTestEnd } from "../../../support/at-test-end.ts";
import { freshDatabase, services, waitFor } from "../../../support/index.ts";

const OWNER = "organization:organization-1";
const SOON = { timeoutMs: 30_000 };

type Part = Pick<DeliveredBody["data"], "after" | "entries">;
// AU-102, AU-203
describe.skipIf(!services().postgres.real)("a stream of a log that was restarted", () => {
  /** Starts a service, and lets its log lose more entries than a call has, twice. */
  async function restartedLog(receivers: readonly TestReceiver[]) {
    const ports = receivers.map(({ port }) => port);
    const env = streamVariables(ports);
    const databaseUrl = await freshDatabase();
    const audit = await startStreamingAudit(ports, { env, databaseUrl });
    atTestEnd(() => audit.stop());
    const log = await openLog(audit);
    atTestEnd(() => log.close());
    const lose = async (position: number) => {
      await exportProof(audit);
      await tamperWith(
        log,
        `delete from audit.entries where position = ${position} and chain_id = (
        select id from audit.chains where owner = '${OWNER}')`,
      );
      const { from, to } = await restartChain(await passDeps(log, env.AUDIT_SIGNING_KEY_FILE), OWNER);
      expect(from).toBe(position);
      const leftOut = () =>
        log.run("left_out", (orm) => rows(orm, sql`select owner from audit.altered_chains`));
      await waitFor(async () => (await leftOut()).length === 0, { ...SOON, what: "the restarted log" });
      await writeEvents(audit, 2);
      return { from, restartedAt: to + 1 };
    };
    await writeEvents(audit, 60);
    await writeEvents(audit, 2, { organization_id: "organization-2" });
    const first = await lose(5);
    const gaps = [first, await lose(first.restartedAt + 3)];
    const { head } = (await exportProof(audit)).end;
    return { audit, databaseUrl, env, gaps, head };
  }

  /**
   * Verifies what a receiver got from its first entry on, and returns the restarts, each as `from` and its position.
   */
  function restartsIn(parts: readonly Part[], head: { position: number; chain: string }) {
    const restarts: { from: number; restartedAt: number }[] = [];
    let proving = new ProvingReceiver(parts.at(0)?.after ?? START);
    for (const { after, entries } of parts) {
      const [first, ...others] = entries;
      if (first?.restart === undefined) {
        proving.take({ data: { after, entries } });
        continue;
      }
      const { position, chain, salt, restart } = first;
      expect(restart.from).toBeLessThanOrEqual(proving.position + 1);
      expect(after.position).toBe(position - 1);
      const hash = declarationHash(OWNER, { kind: "restart", ...restart }, salt);
      expect(hexOf(nextInChain(hashFromHex(after.chain), hash))).toBe(chain);
      restarts.push({ from: restart.from, restartedAt: position });
      proving = new ProvingReceiver({ position, chain });
      proving.take({ data: { after: { position, chain }, entries: others } });
    }
    expect(proving).toMatchObject(head);
    return restarts;
  }

  async function isDelivered(audit: AuditService, body: Record<string, unknown>): Promise<string> {
    const created = await callStreams(audit, "POST", STREAMS, body);
    expect(created.status).toBe(201);
    const path = `${STREAMS}/${created.body.id}`;
    const lag = async () => (await callStreams(audit, "GET", path)).body.lag_events;
    await waitFor(async () => (await lag()) === 0, { ...SOON, what: "a stream without a lag" });
    return created.body.id;
  }

  test("continues with the restart where entries were given up, also when it begins among them", async () => {
    const receiver = newReceiver();
    const { audit, gaps, head } = await restartedLog([receiver]);
    const end = { position: head.position, chain: head.chain };
    const partsTo = (id: string) =>
      bodiesOf(receiver).flatMap(({ data }) => (data.stream_id === id ? [data] : []));
    const { url } = receiver;
    const whole = await isDelivered(audit, { url, from_position: 1 });
    expect(partsTo(whole).at(0)?.after).toEqual(START);
    expect(restartsIn(partsTo(whole), end)).toEqual(gaps);
    const [first] = gaps;
    for (const from_position of [7, 60, first?.restartedAt]) {
      const later = await isDelivered(audit, { url, from_position });
      expect(restartsIn(partsTo(later), end)).toEqual(gaps);
    }
    await isDelivered(audit, { url, from_position: 1, format: "ocsf" });
  });

  // AU-111
  test("that is the operator's leaves out no organization", async () => {
    const receiver = newReceiver();
    const { databaseUrl, env, gaps, head } = await restartedLog([receiver]);
    const operator = await startWith(receiver, {
      databaseUrl,
      env: { ...env, AUDIT_OPERATOR_STREAM_FROM: "start" },
    });
    const reached = (id: string) => partsOf(receiver, id).at(-1)?.entries.at(-1)?.position ?? 0;
    await waitFor(() => reached("organization-1") === head.position, { ...SOON, what: "the restarted log" });
    const end = { position: head.position, chain: head.chain };
    const parts = partsOf(receiver, "organization-1");
    expect(parts.at(0)?.after).toEqual(START);
    expect(restartsIn(parts, end)).toEqual(gaps);
    const other = (await exportProof(operator, logOf("organization-2"))).end.head;
    expect(reached("organization-2")).toBe(other.position);
    const sizes = deliveriesTo(receiver).map((parts) => parts.flatMap(({ entries }) => entries).length);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(100);
  });
});
