import { describe, expect, test } from "bun:test";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freshDatabase, ProcessEnded, rejection, services, startProcess } from "../../support/index.ts";

const EXIT_CONFIG = 78;
const MEMORY = { DATABASE_URL: "pglite://memory" };

async function refusal(env: Record<string, string>): Promise<ProcessEnded> {
  const error = await rejection(startProcess("apps/identity/main.ts", env));
  if (!(error instanceof ProcessEnded)) throw error;
  return error;
}

async function withRoles<T>(text: string, work: (path: string) => Promise<T>): Promise<T> {
  const directory = await mkdtemp(join(tmpdir(), "ostiary-roles-"));
  const path = join(directory, "roles.yaml");
  await writeFile(path, text);
  return work(path).finally(() => rm(directory, { recursive: true }));
}

describe("identity refuses to boot", () => {
  test("with a roles file that is wrong, naming keys and lines on stderr", async () => {
    const text = "roles:\n  owner: [Bad]\n  extra: 7\ncreator_role: owner\ndefault_role: owner\nunknown: 1\n";
    const { exit_code, stderr } = await withRoles(text, (path) => refusal({ ...MEMORY, ROLES_FILE: path }));
    expect(exit_code).toBe(EXIT_CONFIG);
    const lines = stderr.join("\n");
    for (const found of ["line 2: roles.owner[0]", "line 3: roles.extra", "line 6: unknown"]) {
      expect(lines).toContain(`ROLES_FILE ${found}`);
    }
  });

  test("with a roles file that is not there", async () => {
    const { exit_code, stderr } = await refusal({ ...MEMORY, ROLES_FILE: "/nowhere/roles.yaml" });
    expect(exit_code).toBe(EXIT_CONFIG);
    expect(stderr.join("\n")).toContain("/nowhere/roles.yaml");
  });

  test("with wrong variables, all of them in one message and no secret", async () => {
    const { exit_code, stderr } = await refusal({
      DATABASE_URL: "mysql://root:hunter2@db",
      APIKEY_BRAND: "",
      PORT: "x",
      SWAGGER_ENABLED: "maybe",
      LOG_LEVEL: "loud",
    });
    expect(exit_code).toBe(EXIT_CONFIG);
    const text = stderr.join("\n");
    for (const variable of ["DATABASE_URL", "APIKEY_BRAND", "PORT", "SWAGGER_ENABLED", "LOG_LEVEL"]) {
      expect(text).toContain(`${variable} must be`);
    }
    expect(text).not.toContain("hunter2");
  });

  test.each(["Acme", "1acme", "a-b", "a_b", "", " ", "a".repeat(33), "é"])(
    "with the brand %p",
    async (brand) => {
      const { exit_code, stderr } = await refusal({ ...MEMORY, APIKEY_BRAND: brand });
      expect(exit_code).toBe(EXIT_CONFIG);
      expect(stderr.join("\n")).toContain("APIKEY_BRAND must be");
    },
  );

  test("without a database URL", async () => {
    const { exit_code, stderr } = await refusal({});
    expect(exit_code).toBe(EXIT_CONFIG);
    expect(stderr.join("\n")).toContain("DATABASE_URL is required");
  });
});

describe("identity boots", () => {
  const rolesOff: Record<string, string>[] = [{}, { ROLES_FILE: "" }];
  test.each(rolesOff)("with roles off and a warning, for %p", async (env) => {
    const identity = await startProcess("apps/identity/main.ts", {
      DATABASE_URL: await freshDatabase(),
      ...env,
    });
    expect(identity.logs()).toContainEqual(
      expect.objectContaining({ level: "warn", message: expect.stringContaining("roles are off") }),
    );
    expect(await identity.stop()).toBe(0);
  });

  test("with the roles of seeds/, without a warning, and with its own brand", async () => {
    const identity = await startProcess("apps/identity/main.ts", {
      DATABASE_URL: await freshDatabase(),
      ROLES_FILE: "seeds/roles.yaml",
    });
    expect(identity.logs().filter(({ level }) => level !== "info")).toEqual([]);
    const post = async (url: string, body: object): Promise<Record<string, unknown>> => {
      const response = await fetch(url, { method: "POST", body: JSON.stringify(body) });
      return JSON.parse(await response.text());
    };
    const idp = { issuer: "https://login.example.com", subject: "ada" };
    const { user_id } = await post(`${identity.internal_url}/internal/credentials/validate`, { idp });
    const { key } = await post(`${identity.url}/users/${user_id}/api-keys`, {});
    expect(key).toStartWith("ostiary-k-2-");
    expect(await identity.stop()).toBe(0);
  });

  test.skipIf(!services().postgres.real)(
    "five replicas at once, on a database that has nothing yet",
    async () => {
      const DATABASE_URL = await freshDatabase();
      const replicas = await Promise.all(
        Array.from({ length: 5 }, () => startProcess("apps/identity/main.ts", { DATABASE_URL })),
      );
      for (const { internal_url } of replicas) {
        expect((await fetch(`${internal_url}/health/ready`)).status).toBe(200);
      }
      expect(await Promise.all(replicas.map((each) => each.stop()))).toEqual([0, 0, 0, 0, 0]);
    },
  );
});
