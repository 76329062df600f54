import { migrate } from "@ostiary/audit/migrate";
import postgres from "postgres";
import { freshDatabase } from "../../support/index.ts";
import { commandOf } from "../../support/processes/command-of.ts";
import { ROOT } from "../../support/root.ts";

/**
 * Migrates a new database as an owner without superuser rights, which also creates a role for the service.
 */
export async function newOwnedLog() {
  const superuserUrl = await freshDatabase();
  const name = new URL(superuserUrl).pathname.slice(1);
  const [owner, role] = [`owner_${name}`, `service_${name}`];
  const admin = postgres(superuserUrl, { max: 1, onnotice: () => {} });
  await admin.unsafe(`create role ${owner} login createrole`);
  await admin.unsafe(`grant create on database ${name} to ${owner}`);
  const as = (user: string) => {
    const url = new URL(superuserUrl);
    url.username = user;
    return url.href;
  };
  const output = await migrate({ DATABASE_URL: as(owner) }, role);
  return {
    admin,
    owner,
    role,
    ownerUrl: as(owner),
    roleUrl: as(role),
    superuserUrl,
    output,
    async remove() {
      await admin.unsafe(`drop owned by ${role}`);
      await admin.unsafe(`drop role ${role}`);
      await admin.end();
    },
  };
}

/** Starts `ostiary audit` with these arguments in a new process. */
export function startOstiary(variables: Record<string, string>, ...parameters: string[]) {
  return Bun.spawn([...commandOf("apps/platform/ostiary.ts"), "audit", ...parameters], {
    cwd: ROOT,
    env: { PATH: process.execPath, ...variables },
    stdout: "pipe",
    stderr: "pipe",
  });
}

/** Runs `ostiary audit` with these arguments, and waits until it exits. */
export async function runOstiary(variables: Record<string, string>, ...parameters: string[]) {
  const child = startOstiary(variables, ...parameters);
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  return { exitCode: await child.exited, stdout, stderr: stderr.trimEnd() };
}
