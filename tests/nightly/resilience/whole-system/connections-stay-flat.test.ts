import { beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { CAN_COUNT_CONNECTIONS } from "../../../support/http/connections.ts";
import { services, waitFor } from "../../../support/index.ts";
import { withLoad, withSystem } from "../../faults/run.ts";
import type { Bed } from "../../faults/run-cell.ts";
import {
  grown,
  leavingClients,
  most,
  poolsUnderLoad,
  readConnections,
  type Seen,
} from "./connection-readings.ts";

setDefaultTimeout(300_000);

const WARM_REQUESTS = 500;
const { postgres, redis, etcd } = services();
const isHere = postgres.binary && redis.binary && etcd.binary && CAN_COUNT_CONNECTIONS;

describe.skipIf(!isHere)("each process of the whole system keeps its number of connections", () => {
  let idle: Seen = new Map();
  let loaded: Seen = new Map();

  beforeAll(async () => {
    await withSystem(
      () => {},
      async (quiet) => {
        idle = await readConnections(quiet.system, async () => {});
        await withLoad(quiet, async (bed) => {
          loaded = await readUnderLoad(bed);
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

  test("idle", () => {
    expect(idle.size).toBe(8);
    expect(grown(idle, () => new Map())).toEqual([]);
  });

  test("under load", () => {
    expect(loaded.size).toBe(8);
    expect(grown(loaded, poolsUnderLoad)).toEqual([]);
    expect(most(loaded, "Redis")).toBe(1);
  });

  // When calls move from a silent connection to a new one, a watch can stay on the silent one.
  test.each(["idle", "loaded"])("with at most two to etcd: %s", (name) => {
    expect(most(name === "idle" ? idle : loaded, "etcd")).toBeLessThanOrEqual(2);
  });
});
