/**
 * A short form of `bun run nightly histories`. Undecided histories do not fail this test, because many requests time
 * out on a busy machine.
 */
import { expect, setDefaultTimeout, test } from "bun:test";
import { services } from "../../../support/index.ts";
import { RECORDERS } from "../../histories/recorders/index.ts";
import { wrongHistories } from "../../histories/report.ts";
import { runHistories, unnoticedFaultyClients, withField } from "../../histories/run.ts";

setDefaultTimeout(600_000);

const SEED = 20_261_123;
const RUN_MS = 20_000;

const { postgres, redis, etcd } = services();

// OP-70, OP-71
test.skipIf(!(postgres.binary && redis.binary && etcd.binary))(
  "histories of two replicas are linearizable despite kills, freezes and restarts, and faulty clients are found",
  async () => {
    await withField(
      () => {},
      SEED,
      async (field) => {
        expect(await unnoticedFaultyClients(field)).toEqual([]);
        const verdicts = await runHistories(field, SEED, RUN_MS, () => {});
        expect(wrongHistories(verdicts)).toEqual([]);
        const checked = new Set(verdicts.map(({ model }) => model));
        expect(RECORDERS.filter(({ name }) => !checked.has(name))).toEqual([]);
        expect(verdicts.some(({ result }) => result === "linearizable")).toBe(true);
      },
    );
  },
);
