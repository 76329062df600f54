import { expect, setDefaultTimeout, test } from "bun:test";
import { cellsNamed, nameOf } from "../../faults/cells.ts";
import { CLIENTS, type Client } from "../../faults/clients.ts";
import { findingsOf } from "../../faults/findings.ts";
import { type CellRun, isGood } from "../../faults/record.ts";
import { brokenPromises } from "../../faults/report.ts";
import { runCells, withBed } from "../../faults/run.ts";
import { services } from "../../support/index.ts";
import { leash } from "../../support/services.ts";

setDefaultTimeout(300_000);

/**
 * A part of `bun run faults`: two of each service on real stores, under load, with a few of its faults. This
 * test judges what happens, and that the system recovers. The command judges how long it takes.
 */
const CELLS = ["redis/killed", "identity/black-holed", "audit/frozen", "postgres+etcd/killed"];
const PACE = { before_ms: 1_000, fault_ms: 1_500, well_ms: 1_000, heal_ms_max: 15_000 };

/** Returns the clients that had no good answer after the part's return, however long that took. */
function notBack({ cell, answers, served, returned_ms }: CellRun): string[] {
  const isBack = (client: Client) =>
    answers.some((answer) => answer.client === client && answer.started_ms >= returned_ms && isGood(answer));
  const clients = CLIENTS.filter((client) => !isBack(client));
  const gateways = [0, 1].filter(
    (gateway) => !served.some((each) => each.gateway === gateway && each.published_ms >= returned_ms),
  );
  return [...clients, ...gateways.map((gateway) => `routes of gateway ${gateway + 1}`)].map(
    (who) => `${nameOf(cell)}: ${who}`,
  );
}

const { postgres, redis, etcd } = services();

test.skipIf(!(postgres.binary && redis.binary && etcd.binary))(
  "every promise holds under each fault, and the system recovers",
  async () => {
    const cells = CELLS.flatMap((name) => cellsNamed(name));
    const away: string[] = [];
    const findings = await withBed(
      leash(),
      () => {},
      async (bed) => {
        const found: ReturnType<typeof findingsOf>[] = [];
        const done = (run: CellRun) => {
          found.push(findingsOf(run, { timed: false }));
          away.push(...notBack(run));
        };
        await runCells(bed, cells, PACE, done, (why) => {
          throw new Error(why);
        });
        return found;
      },
    );
    expect(findings.map(({ cell }) => cell)).toEqual(CELLS);
    expect(brokenPromises(findings)).toEqual([]);
    expect(away).toEqual([]);
    for (const { requests } of findings) expect(requests).toBeGreaterThan(200);
    expect(findings.reduce((sum, { audited }) => sum + audited, 0)).toBeGreaterThan(50);
  },
);
