import { beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { CAN_COUNT_CONNECTIONS } from "../../../support/http/connections.ts";
import { services, waitFor } from "../../../support/index.ts";
import { type CellRun, isGood } from "../../faults/cell-run.ts";
import { cellsNamed, nameOf } from "../../faults/cells.ts";
import { CLIENTS, type Client } from "../../faults/clients.ts";
import { type Findings, findingsOf } from "../../faults/findings.ts";
import { brokenPromises } from "../../faults/report.ts";
import { runCells, withLoad, withSystem } from "../../faults/run.ts";
import type { Bed } from "../../faults/run-cell.ts";
import {
  grown,
  leavingClients,
  most,
  pooledUnderLoad,
  readConnections,
  type Seen,
} from "./connection-readings.ts";

setDefaultTimeout(300_000);

/**
 * Some of the faults of `bun run nightly faults`, with two replicas of each service under load. The tests check the
 * promises and the recovery. Only the command checks how long the recovery takes.
 */
const CELLS = ["redis/killed", "identity/black-holed", "audit/frozen", "postgres+etcd/killed"];
const PACE = { beforeMs: 1_000, faultMs: 1_500, wellMs: 1_000, healMsMax: 15_000 };
const WARM_REQUESTS = 500;

/**
 * Returns the clients without a good response, and the gateways without a new route, after a fault has ended.
 */
function notBack({ cell, answers, served, returnedMs }: CellRun): string[] {
  const isBack = (client: Client) =>
    answers.some((answer) => answer.client === client && answer.startedMs >= returnedMs && isGood(answer));
  const clients = CLIENTS.filter((client) => !isBack(client));
  const gateways = [0, 1].filter(
    (gateway) => !served.some((each) => each.gateway === gateway && each.publishedMs >= returnedMs),
  );
  return [...clients, ...gateways.map((gateway) => `routes of gateway ${gateway + 1}`)].map(
    (who) => `${nameOf(cell)}: ${who}`,
  );
}

const { postgres, redis, etcd } = services();

describe.skipIf(!(postgres.binary && redis.binary && etcd.binary))("the whole system", () => {
  const findings: Findings[] = [];
  const away: string[] = [];
  let idle: Seen = new Map();
  let loaded: Seen = new Map();

  // The system runs without load, then under load, and then with faults. The tests judge the readings.
  beforeAll(async () => {
    await withSystem(
      () => {},
      async (quiet) => {
        if (CAN_COUNT_CONNECTIONS) idle = await readConnections(quiet.system, async () => {});
        await withLoad(quiet, async (bed) => {
          if (CAN_COUNT_CONNECTIONS) loaded = await readUnderLoad(bed);
          await breakParts(bed);
        });
      },
    );
  }, 600_000);

  async function readUnderLoad({ system, load }: Bed): Promise<Seen> {
    const callers = await system.people.callers(0);
    await waitFor(() => load.recorder.answers.length > WARM_REQUESTS, {
      timeoutMs: 60_000,
      what: "the load to start",
    });
    return readConnections(system, () => leavingClients(system, callers));
  }

  async function breakParts(bed: Bed): Promise<void> {
    const done = (run: CellRun) => {
      findings.push(findingsOf(run, { timed: false }));
      away.push(...notBack(run));
    };
    const cells = CELLS.flatMap((name) => cellsNamed(name));
    await runCells(bed, cells, PACE, done, (why) => {
      throw new Error(why);
    });
  }

  test("keeps its promises under each fault, and recovers", () => {
    expect(findings.map(({ cell }) => cell)).toEqual(CELLS);
    expect(brokenPromises(findings)).toEqual([]);
    expect(away).toEqual([]);
    for (const { requests } of findings) expect(requests).toBeGreaterThan(200);
    expect(findings.reduce((sum, { audited }) => sum + audited, 0)).toBeGreaterThan(50);
  });

  test.skipIf(!CAN_COUNT_CONNECTIONS)(
    "keeps the number of connections of each process, idle and under load",
    () => {
      expect(grown(idle, () => new Set())).toEqual([]);
      expect(grown(loaded, pooledUnderLoad)).toEqual([]);
      for (const seen of [idle, loaded]) {
        expect(seen.size).toBe(8);
        // A process may have two connections to etcd: when calls move from a silent connection to a new one, a
        // watch can stay on the silent one.
        expect(most(seen, "etcd")).toBeLessThanOrEqual(2);
      }
      expect(most(loaded, "Redis")).toBe(1);
    },
  );
});
