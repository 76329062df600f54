import { expect, setDefaultTimeout, test } from "bun:test";
import { chmod, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { shippedFile } from "@ostiary/lib/runtime/shipped-files";
import { openDatabase } from "@ostiary/lib/runtime/stores/database";
import { commandsOf } from "../../../support/documents/documents.ts";
import { Reader } from "../../../support/documents/guide-reader.ts";
import { initialize, newPostgres } from "../../../support/stores/postgres-server.ts";
import { runSql } from "../../../support/stores/sql.ts";
import { locateServices } from "../../../support/stores/stores-under-test.ts";
import { waitFor } from "../../../support/time/wait-for.ts";

setDefaultTimeout(240_000);

const { postgres: source } = locateServices(process.env);
const bin = "binary" in source ? source.binary : undefined;

const add = (url: string, id: string) =>
  runSql(url, `insert into identity.organizations values ('${id}', 'Acme', now(), now())`);

// OP-67
test.skipIf(bin === undefined || Bun.which("pg_basebackup") === null)(
  "backup-and-restore.md restores the state between two writes, from a base backup and the WAL",
  async () => {
    const reader = await Reader.open();
    const archive = join(reader.directory, "archive");
    // PostgreSQL may run as another user and must be able to write here.
    await mkdir(archive);
    await chmod(reader.directory, 0o777);
    await chmod(archive, 0o777);
    const made = newPostgres(bin ?? "", {
      wal_level: "replica",
      archive_mode: "on",
      archive_command: `test ! -f ${archive}/%f && cp %p ${archive}/%f`,
    });
    await initialize(bin ?? "", made);
    await made.server.start();
    const { url } = made.server;
    const database = await openDatabase(url, { namespace: "test", poolMax: 2 });
    await database.migrate("identity", shippedFile("drizzle/identity"));
    await database.close();
    const [backUp = "", restore = ""] = await commandsOf(
      ".github/guides/backup-and-restore.md",
      "To a point in time",
    );
    const base = join(reader.directory, "base");
    await reader.run(`SERVER_URL=${url} BASE=${base}\n${backUp}`);
    await add(url, "kept");
    const [moment] = await runSql(url, "select clock_timestamp()::text as now");
    await add(url, "lost");
    const [wal] = await runSql(url, "select pg_walfile_name(pg_switch_wal()) as name");
    const isArchived = async () =>
      (await runSql(url, `select from pg_stat_archiver where last_archived_wal >= '${wal?.name}'`)).length >
      0;
    await waitFor(isArchived, { timeoutMs: 60_000, what: "the archived WAL" });
    await made.server.kill();

    const restored = newPostgres(bin ?? "", {});
    await reader.run(
      `BASE=${base} DATA=${restored.data} ARCHIVE=${archive} RESTORE_TO='${moment?.now}'\n${restore}`,
    );
    if (restored.account !== undefined) {
      const { uid, gid } = restored.account;
      await reader.run(`chown -R ${uid}:${gid} ${restored.data}`);
    }
    await restored.server.start();
    const inRecovery = () => runSql(restored.server.url, "select pg_is_in_recovery() as is_so");
    await waitFor(async () => (await inRecovery())[0]?.is_so === false, {
      timeoutMs: 60_000,
      what: "a server that accepts writes",
    });
    const found = await runSql(restored.server.url, "select id from identity.organizations order by id");
    expect(found.map(({ id }) => id)).toEqual(["kept"]);
    await add(restored.server.url, "new");
    await Promise.all([made.server.close(), restored.server.close()]);
  },
);
