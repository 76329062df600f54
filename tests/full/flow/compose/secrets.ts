import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { runToEnd } from "../../../support/processes/run-to-end.ts";
import { ROOT } from "../../../support/root.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

/** The services that have a database. */
export const WITH_DATABASE = ["registry", "identity", "audit"] as const;

/** A folder of secrets that `make-secrets` made. The user who runs the tests can read them. */
export class Secrets {
  readonly folder: string;

  private constructor(folder: string) {
    this.folder = folder;
  }

  static async make(given: Record<string, string> = {}): Promise<Secrets> {
    const secrets = new Secrets(temporaryFolder("secrets"));
    for (const [name, text] of Object.entries(given)) await secrets.write(name, text);
    secrets.makeMissing();
    return secrets;
  }

  makeMissing(): void {
    const owner = `${process.getuid?.()}:${process.getgid?.()}`;
    const made = Bun.spawnSync(
      ["sh", join(ROOT, "apps/platform/deploy/containers/make-secrets"), this.folder],
      {
        env: { ...process.env, OSTIARY_USER: owner },
      },
    );
    if (made.exitCode !== 0 || `${made.stderr}` !== "") throw new Error(`${made.stderr}`);
  }

  read(name: string): Promise<string> {
    return Bun.file(join(this.folder, name)).text();
  }

  async write(name: string, text: string): Promise<void> {
    await rm(join(this.folder, name), { force: true });
    await Bun.write(join(this.folder, name), text);
  }

  async names(): Promise<string[]> {
    return (await readdir(this.folder)).toSorted();
  }

  /** Returns the database URL from a service's secret, with the host and database name of `server`. */
  async databaseUrl(
    service: (typeof WITH_DATABASE)[number] | "audit-owner",
    server: string,
  ): Promise<string> {
    const url = new URL(await this.read(`${service}-database-url`));
    const { host, pathname } = new URL(server);
    url.host = host;
    url.pathname = pathname;
    return url.href;
  }
}

/** Runs `make-database-roles` with the environment of its container, on the PostgreSQL server at `server`. */
export function makeRoles({ folder }: Secrets, server: string) {
  const { hostname, port, username } = new URL(server);
  const file = (name: string) => join(folder, name);
  return runToEnd(["sh", "apps/platform/deploy/containers/make-database-roles"], {
    env: {
      PATH: process.env.PATH ?? "",
      PGHOST: hostname,
      PGPORT: port,
      PGUSER: decodeURIComponent(username),
      PGDATABASE: "ostiary",
      POSTGRES_PASSWORD_FILE: file("postgres-password"),
      ...Object.fromEntries(
        [...WITH_DATABASE, "audit-owner"].map((name) => [
          `${name.toUpperCase().replace("-", "_")}_DATABASE_URL_FILE`,
          file(`${name}-database-url`),
        ]),
      ),
    },
  });
}
