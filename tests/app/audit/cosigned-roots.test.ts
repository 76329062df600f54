/** Tests how the audit service asks witnesses to cosign the roots of its tree. */

import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { createServer } from "node:net";
import { deleteOldCosignatures } from "../../../apps/audit/proof/witnesses/witness-sql.ts";
import { atTestEnd } from "../../support/at-test-end.ts";
import { listenLocally } from "../../support/http/listen-locally.ts";
import { services, waitFor } from "../../support/index.ts";
import { metricOf } from "../../support/telemetry/metrics.ts";
import { openLog, sqlOn, startAudit } from "./bed.ts";
import {
  cosigned,
  type Entry,
  ORIGIN,
  SOON,
  servedRoot,
  startFake,
  startWitnessed,
  WITNESS,
  witnessedLog,
  write,
} from "./witnesses-bed.ts";

setDefaultTimeout(120_000);

/** Returns the text of the root in the body of an add-checkpoint request. */
function rootText(body: string): string {
  return body.slice(body.indexOf("\n\n") + 2, body.lastIndexOf("\n\n") + 1);
}

describe("a root of the log", () => {
  // AU-171, AU-172
  test.skipIf(!services().postgres.real)(
    "gets the cosignature of a witness, and so does each later root, even after a restart",
    async () => {
      const { keyFile, entry } = witnessedLog();
      const audit = await startWitnessed(keyFile, [entry]);
      await write(audit);
      const first = await cosigned(audit, entry);
      await write(audit);
      const second = await cosigned(audit, entry, first.size + 1);
      expect(second.text.split("\n")[0]).toBe(ORIGIN);
      // This service starts without any state about the witness.
      const again = await startWitnessed(keyFile, [entry], { databaseUrl: audit.databaseUrl });
      await write(again);
      await cosigned(again, entry, second.size + 1);
      expect(await metricOf(again, "audit_witness_conflicts")).toBe(0);
      expect(await metricOf(again, "audit_witnesses_behind")).toBe(0);
    },
  );

  // AU-172
  test("is served without cosignatures until a quorum has cosigned one", async () => {
    const { keyFile, entry } = witnessedLog();
    let isAway = true;
    const second = startFake("late.example.com", (body, witness) =>
      isAway ? new Response(null, { status: 503 }) : new Response(witness.line(rootText(body))),
    );
    const audit = await startWitnessed(keyFile, [entry, second], { quorum: 2 });
    await write(audit);
    await waitFor(() => audit.log().includes("late.example.com"), SOON);
    expect((await waitFor(() => servedRoot(audit), SOON)).signatures).toHaveLength(1);
    isAway = false;
    const root = await cosigned(audit, second);
    expect(root.signatures.map(({ name }) => name)).toEqual(
      expect.arrayContaining([ORIGIN, WITNESS, "late.example.com"]),
    );
  });
});

// AU-174
test("no cosignature of a faulty witness is stored, and faulty witnesses do not delay others", async () => {
  const { keyFile, entry } = witnessedLog();
  const reset = createServer((socket) => socket.on("data", () => socket.resetAndDestroy()));
  const port = await listenLocally(reset);
  atTestEnd(() => reset.close());
  const bad: Entry[] = [
    { ...startFake("reset", () => new Response()), url: `http://127.0.0.1:${port}` },
    startFake("silent", () => new Promise(() => {})),
    startFake("empty", () => new Response("")),
    startFake("garbage", () => new Response(Buffer.from([0xff, 0x00, 0xfe]))),
    startFake("redirects", () => Response.redirect(entry.url, 307)),
    startFake("no-size", () => new Response("many\n", { status: 409 })),
    startFake(
      "never-content",
      (body) => new Response(`${body.startsWith("old 0") ? 1 : 0}\n`, { status: 409 }),
    ),
    startFake("unknown", () => new Response(null, { status: 404 })),
  ];
  const audit = await startWitnessed(keyFile, [...bad, entry]);
  await write(audit);
  const root = await cosigned(audit, entry);
  expect(root.signatures).toHaveLength(2);
  const responding = bad.filter(({ name }) => name !== "silent");
  await waitFor(() => responding.every(({ name }) => audit.log().includes(`"witness":"${name}"`)), SOON);
  await write(audit);
  await cosigned(audit, entry, root.size + 1);
});

describe.skipIf(!services().postgres.real)("a log on PostgreSQL", () => {
  // AU-172
  test("keeps the newest root with a quorum, and the 1000 largest of the newer ones", async () => {
    const audit = await startAudit();
    atTestEnd(() => audit.stop());
    const log = await openLog(audit);
    atTestEnd(() => log.close());
    const sql = sqlOn(log);
    const kept = async (newest: number) => {
      await sql`delete from audit.cosignatures`;
      await sql`insert into audit.cosignatures (size, note, witness, line, cosigned_at)
        select size, ${`${ORIGIN}\n`} || size, 'witness', 'line', now() from generate_series(1, 1500) as size`;
      await sql`insert into audit.cosignatures (size, note, witness, line, cosigned_at)
        values (5000, 'another log', 'witness', 'line', now())`;
      await deleteOldCosignatures(log, ORIGIN, newest);
      const [found] = await sql`select count(*)::integer as count, min(size)::integer as first,
        (min(size) filter (where size > ${String(newest)}::text::bigint))::integer as newer from audit.cosignatures`;
      return found;
    };
    expect(await kept(0)).toEqual({ count: 1_000, first: 501, newer: 501 });
    expect(await kept(100)).toEqual({ count: 1_001, first: 100, newer: 501 });
    expect(await kept(600)).toEqual({ count: 901, first: 600, newer: 601 });
  });
});
