import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { createBackup } from "@ostiary/platform/backup/create";
import { restoreBackup } from "@ostiary/platform/backup/restore";
import { verifyBackup } from "@ostiary/platform/backup/verify";
import { freshDatabase, rejection, waitFor } from "../../support/index.ts";
import { pathWith } from "../../support/path-with.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import {
  addOrganization,
  ask,
  backUp,
  isAble,
  newMigrated,
  newPath,
  organizationsOf,
  PATH,
  restore,
  runOstiary,
  SCHEMAS,
  schemasOf,
  silent,
  startOstiary,
  surroundings,
} from "./bed.ts";

setDefaultTimeout(120_000);

/** The script of a `pg_dump` that writes until its output is closed. */
const ENDLESS = `[ "$1" = --version ] && exec echo "pg_dump (PostgreSQL) 99.1"
while echo endless; do sleep 0.05; done`;

const modeOf = async (path: string) => (await stat(path)).mode & 0o777;

describe.skipIf(!isAble)("ostiary backup", () => {
  // OP-62, OP-63, OP-66
  test("restores data and privileges of a database; only the owner can read the backup's files", async () => {
    const url = await newMigrated(...SCHEMAS);
    const role = `reader_${new URL(url).pathname.slice(1)}`;
    await ask(url, `create role ${role}; grant usage on schema identity to ${role}`);
    await ask(url, `grant select (name) on identity.organizations to ${role}`);
    await addOrganization(url, "one");
    const directory = newPath();
    const created = await runOstiary(["create", directory], { DATABASE_URL: url });
    expect(created).toMatchObject({ exitCode: 0 });
    expect(created.stdout).toStartWith(
      `${directory} contains a complete backup: routes, identity, audit of Ostiary `,
    );
    expect(created.stderr).toMatch(/^Backing up routes, identity, audit: \d+\.\d MiB in \d+\.\d s$/m);
    await addOrganization(url, "two");
    expect((await readdir(directory)).toSorted()).toEqual(["manifest.json", "routes-identity-audit.dump"]);
    expect(await modeOf(directory)).toBe(0o700);
    for (const name of await readdir(directory)) expect(await modeOf(join(directory, name))).toBe(0o600);
    expect(await runOstiary(["verify", directory])).toMatchObject({ exitCode: 0 });

    const target = await freshDatabase();
    const restored = await runOstiary(["restore", directory], { DATABASE_URL: target });
    expect(restored).toMatchObject({ exitCode: 0 });
    expect(restored.stdout).toContain("Everything after that time is lost.");
    expect(await organizationsOf(target)).toEqual(["one"]);
    const journals = SCHEMAS.map((schema) => `select * from ${schema}.schema_migrations`).join(" union all ");
    expect(await ask(target, journals)).toEqual(await ask(url, journals));
    const [right] = await ask(
      target,
      `select has_column_privilege('${role}', 'identity.organizations', 'name', 'select') as granted`,
    );
    expect(right?.granted).toBe(true);
    await ask(url, `drop owned by ${role}`);
    await ask(target, `drop owned by ${role}`);
    await ask(url, `drop role ${role}`);
  });

  // OP-62
  test("dumps three databases, the audit log last, and restores them into one database", async () => {
    const [routes, identity, audit] = await Promise.all(SCHEMAS.map((schema) => newMigrated(schema)));
    await addOrganization(`${identity}`, "one");
    const directory = newPath();
    const config = { AUDIT_DATABASE_URL: audit, IDENTITY_DATABASE_URL: identity, DATABASE_URL: routes };
    const { dumps } = await createBackup(config, directory, surroundings(), silent);
    expect(dumps.map(({ file }) => file)).toEqual(["routes.dump", "identity.dump", "audit.dump"]);
    const target = await freshDatabase();
    await restore(directory, target);
    expect(await schemasOf(target)).toEqual(["audit", "identity", "routes"]);
    expect(await organizationsOf(target)).toEqual(["one"]);
  });

  // OP-62
  test("contains a consistent snapshot of all schemas of one database during writes", async () => {
    const url = await newMigrated(...SCHEMAS);
    let isOver = false;
    const writing = (async () => {
      for (let number = 0; !isOver; number += 1) {
        await ask(
          url,
          `begin; update routes.writer set last_fence = ${number}; delete from identity.organizations;
           insert into identity.organizations values ('${number}', 'Acme', now(), now()); commit`,
        );
      }
    })();
    const directory = await backUp(url).finally(() => {
      isOver = true;
    });
    await writing;
    const target = await freshDatabase();
    await restore(directory, target);
    const [writer] = await ask(target, "select last_fence::text as fence from routes.writer");
    const organizations = await organizationsOf(target);
    expect(organizations).toEqual(writer?.fence === "0" && organizations.length === 0 ? [] : [writer?.fence]);
  });

  // OP-66
  test("leaves an empty database when the restore fails in the middle", async () => {
    const directory = await backUp(await newMigrated(...SCHEMAS));
    const target = await freshDatabase();
    await ask(
      target,
      `create function public.refuse() returns event_trigger language plpgsql as $$ begin
        if exists (select from pg_event_trigger_ddl_commands() where object_identity = 'identity.members') then
          raise exception 'the disk is full';
        end if;
      end $$;
      create event trigger in_the_middle on ddl_command_end when tag in ('CREATE TABLE')
        execute function public.refuse()`,
    );
    const error = await rejection(restore(directory, target));
    expect(String(error)).toContain("pg_restore failed: ");
    expect(String(error)).toContain("the disk is full");
    expect(await schemasOf(target)).toEqual([]);
    await ask(target, "drop event trigger in_the_middle");
    await restore(directory, target);
    expect(await schemasOf(target)).toEqual(["audit", "identity", "routes"]);
  });

  // OP-66
  test("says which schemas are restored when the second of several databases fails", async () => {
    const [routes, rest] = await Promise.all([newMigrated("routes"), newMigrated("identity", "audit")]);
    const directory = newPath();
    const config = { REGISTRY_DATABASE_URL: routes, DATABASE_URL: rest };
    await createBackup(config, directory, surroundings(), silent);
    const target = await freshDatabase();
    await ask(
      target,
      `create function public.refuse() returns event_trigger language plpgsql as $$ begin
        raise exception 'the disk is full'; end $$;
      create event trigger no_views on ddl_command_start when tag in ('CREATE TRIGGER')
        execute function public.refuse()`,
    );
    const error = await rejection(restore(directory, target));
    expect(String(error)).toContain("The schemas routes are restored, the other schemas are not.");
    expect(String(error)).toContain("drop schema routes cascade;");
    expect(await schemasOf(target)).toEqual(["routes"]);
  });

  // OP-65, OP-66
  test("lets one of two concurrent restores fail, and the database is complete", async () => {
    const url = await newMigrated(...SCHEMAS);
    await addOrganization(url, "one");
    const directory = await backUp(url);
    const target = await freshDatabase();
    const outcomes = await Promise.allSettled([restore(directory, target), restore(directory, target)]);
    expect(outcomes.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
    expect(await organizationsOf(target)).toEqual(["one"]);
  });

  // OP-63
  test("lets one of two concurrent backups into the same directory fail, and the other is complete", async () => {
    const url = await newMigrated(...SCHEMAS);
    const directory = temporaryFolder("backup");
    const create = () => createBackup({ DATABASE_URL: url }, directory, surroundings(), silent);
    const outcomes = await Promise.allSettled([create(), create()]);
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    await verifyBackup(directory, silent);
  });

  // OP-63
  test("ends pg_dump and removes the directory at SIGTERM", async () => {
    const directory = newPath();
    const child = await startEndlessBackup(directory);
    child.kill("SIGTERM");
    expect(await child.exited).toBe(1);
    expect(await child.stderr.text()).toContain("pg_dump failed: ");
    expect(existsSync(directory)).toBe(false);
  });

  // OP-63, OP-64
  test("leaves a directory that verify refuses when it is killed", async () => {
    const directory = newPath();
    const child = await startEndlessBackup(directory);
    child.kill("SIGKILL");
    await child.exited;
    const verified = await runOstiary(["verify", directory]);
    expect(verified).toMatchObject({ exitCode: 78, stdout: "" });
    expect(verified.stderr).toContain(`There is no complete backup in ${directory}: manifest.json`);
  });

  // OP-63
  test.each([
    ["fails in the middle", "echo half; echo 'the server is gone' >&2; exit 1", "the server is gone"],
    ["is killed by a signal", "echo half; kill -KILL $$", "pg_dump failed: the exit code is 137"],
  ])("leaves an empty directory empty when pg_dump %s", async (_, script, said) => {
    const DATABASE_URL = await newMigrated(...SCHEMAS);
    const directory = temporaryFolder("backup");
    const path = pathWith({
      pg_dump: `[ "$1" = --version ] && exec echo "pg_dump (PostgreSQL) 99.1"\n${script}`,
    });
    const error = await rejection(createBackup({ DATABASE_URL }, directory, surroundings(path), silent));
    expect(String(error)).toContain(said);
    expect(await readdir(directory)).toEqual([]);
  });

  // OP-63
  test("fails when a schema is migrated during the backup", async () => {
    const DATABASE_URL = await newMigrated(...SCHEMAS);
    const statement =
      "insert into identity.schema_migrations (written_at_ms, hash) values (9000000000000, 'a')";
    const real = Bun.which("pg_dump");
    const path = pathWith({
      pg_dump: `[ "$1" = --version ] || psql --quiet "${DATABASE_URL}" --command="${statement}"\nexec "${real}" "$@"`,
    });
    const directory = newPath();
    const error = await rejection(createBackup({ DATABASE_URL }, directory, surroundings(path), silent));
    expect(String(error)).toContain("The schema identity was migrated while it was dumped.");
    expect(existsSync(directory)).toBe(false);
  });

  test("passes the URL's password to pg_dump in the environment and not as an argument", async () => {
    const url = new URL(await newMigrated(...SCHEMAS));
    url.password = "p%40ss";
    const report = join(temporaryFolder("backup"), "report");
    const path = pathWith({
      pg_dump: `[ "$1" = --version ] && exec echo "pg_dump (PostgreSQL) 99.1"
       echo "$@" > ${report}; echo "$PGPASSWORD $PGSSLMODE" >> ${report}; echo dump`,
    });
    await createBackup({ DATABASE_URL: url.href }, newPath(), surroundings(path), silent);
    const [parameters = "", variables] = (await Bun.file(report).text()).split("\n");
    expect(parameters).toContain(`--dbname=postgres://postgres@${url.host}${url.pathname}`);
    expect(parameters).not.toContain("p%40ss");
    expect(variables).toBe("p@ss disable");
    expect(PATH).not.toBe(path);
  });
});

describe.skipIf(!isAble)("a restore by a role that may not create a schema", () => {
  // OP-66
  test("writes nothing and shows the reason", async () => {
    const directory = await backUp(await newMigrated(...SCHEMAS));
    const target = new URL(await freshDatabase());
    const role = `nobody_${target.pathname.slice(1)}`;
    await ask(target.href, `create role ${role} login`);
    const asRole = new URL(target);
    asRole.username = role;
    const error = await rejection(
      restoreBackup({ DATABASE_URL: asRole.href }, directory, surroundings(), silent),
    );
    expect(String(error)).toContain("permission denied for database");
    expect(await schemasOf(target.href)).toEqual([]);
    await ask(target.href, `drop role ${role}`);
  });
});

/** Starts a backup whose pg_dump never ends, and waits until the dump has data. */
async function startEndlessBackup(directory: string) {
  const DATABASE_URL = await newMigrated(...SCHEMAS);
  const dump = join(directory, "routes-identity-audit.dump");
  const PATH = pathWith({ pg_dump: ENDLESS });
  const child = startOstiary(["create", directory], { DATABASE_URL, PATH });
  await waitFor(() => existsSync(dump) && Bun.file(dump).size > 0, { timeoutMs: 60_000 });
  return child;
}
