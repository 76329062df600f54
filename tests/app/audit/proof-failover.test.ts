import { expect, test } from "bun:test";
import { type Database, StoreUnavailable } from "@ostiary/lib/runtime/stores/database";
import { makePartitions } from "../../../apps/audit/events/partitions-sql.ts";
import { sealAll } from "../../../apps/audit/proof/seal/seal-all.ts";
import { sealPass } from "../../../apps/audit/proof/seal/seal-pass.ts";
import { freshDatabase, services } from "../../support/index.ts";
import { newLog, sqlOn } from "./bed.ts";
import { databaseWith } from "./own-log.ts";
import { cloned, writeSigningKey } from "./proof-bed.ts";
import { passDeps, writePast } from "./retention-bed.ts";

/** A database whose commit is followed by a failover to an asynchronous standby. */
function failingOver(primary: Database, standby: Database, promoted: () => Promise<unknown>): Database {
  let current = primary;
  const run: Database["run"] = async (name, work, options) => {
    const result = await current.run(name, work, options);
    if (name !== "write_pass" || current === standby) return result;
    current = standby;
    await promoted();
    return result;
  };
  return new Proxy(primary, {
    get(_, name) {
      if (name === "run") return run;
      const value = Reflect.get(current, name);
      return typeof value === "function" ? value.bind(current) : value;
    },
  });
}

// AU-66, AU-199
test.skipIf(!services().postgres.real)(
  "a replica that a failover interrupts before its signature replaces no root of the new primary, and goes on",
  async () => {
    const keyFile = writeSigningKey();
    const url = await freshDatabase();
    const now = () => new Date().toISOString();
    {
      await using log = await newLog(url);
      await makePartitions(log, Date.now());
      await writePast(log, "organization-1", now(), 1);
      await sealPass(await passDeps(log, keyFile));
    }
    await using standby = await newLog(await cloned(url));
    await using primary = await newLog(url);
    await writePast(primary, "organization-1", now(), 1);
    await writePast(standby, "organization-2", now(), 1);
    const noteOf = async () =>
      (await sqlOn(standby)<{ note: string }>`select note from audit.sealer`)[0]?.note;
    const other = await passDeps(standby, keyFile);
    let published: string | undefined;
    const database = failingOver(primary, standby, async () => {
      await sealPass(other);
      published = await noteOf();
    });
    const interrupted = { ...(await passDeps(primary, keyFile)), reads: database, writes: database };
    await sealPass(interrupted);
    expect(published).toContain("\n2\n");
    expect(await noteOf()).toBe(published);
    for (const deps of [interrupted, other]) {
      await writePast(standby, "organization-1", now(), 1);
      expect(await sealPass(deps)).toMatchObject({ end: "done", entries: 1 });
    }
    expect(await noteOf()).toContain("\n4\n");
  },
);

// AU-66
test("a replica whose signed root was not stored, because the connection broke, signs the same root again", async () => {
  const keyFile = writeSigningKey();
  await using log = await newLog();
  await makePartitions(log, Date.now());
  const deps = await passDeps(log, keyFile);
  const write = () => writePast(log, "organization-1", new Date().toISOString(), 1);
  await write();
  await sealPass(deps);
  let failures = 1;
  const run: Database["run"] = async (what, ...rest) => {
    if (what === "store_note" && failures-- > 0)
      throw new StoreUnavailable("database", "The connection broke.");
    return log.run(what, ...rest);
  };
  const writes = databaseWith(log, { run });
  await write();
  await expect(sealPass({ ...deps, writes })).rejects.toThrow();
  await write();
  await sealAll({ ...deps, writes });
  const [sealer] = await sqlOn(log)<{ note: string }>`select note from audit.sealer`;
  expect(sealer?.note).toContain("\n3\n");
});
