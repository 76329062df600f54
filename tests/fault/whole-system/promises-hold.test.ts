import { expect, setDefaultTimeout, test } from "bun:test";
import { cellsNamed } from "../../faults/cells.ts";
import { findingsOf } from "../../faults/findings.ts";
import type { CellRun } from "../../faults/record.ts";
import { brokenPromises } from "../../faults/report.ts";
import { runCells, withBed } from "../../faults/run.ts";
import { services } from "../../support/index.ts";
import { leash } from "../../support/services.ts";

setDefaultTimeout(300_000);

/**
 * A short cut of `bun run faults`: two of each service on real stores, under load, with a few of its faults. Judged
 * here is what happens, and that all is well again; how long it takes is the command's to judge.
 */
const CELLS = ["redis/killed", "identity/black-holed", "audit/frozen", "postgres+etcd/killed"];
const PACE = { before_ms: 1_000, fault_ms: 1_500, well_ms: 1_000, heal_ms_max: 30_000 };

const { postgres, redis, etcd } = services();

test.skipIf(!(postgres.binary && redis.binary && etcd.binary))(
  "whatever breaks, what is promised holds, and all is well again",
  async () => {
    const cells = CELLS.flatMap((name) => cellsNamed(name));
    const findings = await withBed(
      leash(),
      () => {},
      async (bed) => {
        const found: ReturnType<typeof findingsOf>[] = [];
        const done = (run: CellRun) => void found.push(findingsOf(run, { timed: false }));
        await runCells(bed, cells, PACE, done, (why) => {
          throw new Error(why);
        });
        return found;
      },
    );
    expect(findings.map(({ cell }) => cell)).toEqual(CELLS);
    expect(brokenPromises(findings)).toEqual([]);
    for (const { cell, well_again_ms, requests } of findings) {
      expect({ cell, well_again: well_again_ms !== null }).toEqual({ cell, well_again: true });
      expect(requests).toBeGreaterThan(200);
    }
    expect(findings.reduce((sum, { audited }) => sum + audited, 0)).toBeGreaterThan(50);
  },
);
