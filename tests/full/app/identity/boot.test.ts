import { describe, expect, test } from "bun:test";
import postgres from "postgres";
import { freshDatabase, ProcessEnded, rejection, services, startProcess } from "../../../support/index.ts";

const EXIT_CONFIG = 78;
const MEMORY = { DATABASE_URL: "pglite://memory" };

async function refusal(env: Record<string, string>): Promise<ProcessEnded> {
  const error = await rejection(startProcess("apps/identity/main.ts", env));
  if (!(error instanceof ProcessEnded)) throw error;
  return error;
}

describe("identity refuses to boot", () => {
  // ID-70, OP-10
  test("with a missing roles file", async () => {
    const { exitCode, stderr } = await refusal({ ...MEMORY, ROLES_FILE: "/nowhere/roles.yaml" });
    expect(exitCode).toBe(EXIT_CONFIG);
    expect(stderr.join("\n")).toContain("/nowhere/roles.yaml");
  });

  test("without a database URL", async () => {
    const { exitCode, stderr } = await refusal({});
    expect(exitCode).toBe(EXIT_CONFIG);
    expect(stderr.join("\n")).toContain("DATABASE_URL is required");
  });
});

describe("identity boots", () => {
  // ID-72
  test("with roles off and a warning if ROLES_FILE is empty", async () => {
    const identity = await startProcess("apps/identity/main.ts", {
      DATABASE_URL: await freshDatabase(),
      ROLES_FILE: "",
    });
    expect(identity.logs()).toContainEqual(
      expect.objectContaining({ level: "warn", message: expect.stringContaining("roles are off") }),
    );
    expect(await identity.stop()).toBe(0);
  });

  // ID-63, ID-78
  test("with the roles of seeds/ and the default brand, and stores last uses when it stops", async () => {
    const DATABASE_URL = await freshDatabase();
    const identity = await startProcess("apps/identity/main.ts", {
      DATABASE_URL,
      ROLES_FILE: "seeds/roles.yaml",
    });
    expect(identity.logs().filter(({ level }) => level !== "info")).toEqual([]);
    const post = async (url: string, body: object): Promise<Record<string, unknown>> => {
      const response = await fetch(url, { method: "POST", body: JSON.stringify(body) });
      return JSON.parse(await response.text());
    };
    const idp = { issuer: "https://login.example.com", subject: "ada" };
    const { user_id } = await post(`${identity.internalUrl}/internal/credentials/validate`, { idp });
    const { key } = await post(`${identity.url}/users/${user_id}/api-keys`, {});
    expect(key).toStartWith("ostiary-k-2-");
    const used = await post(`${identity.internalUrl}/internal/credentials/validate`, { credential: key });
    expect(used).toMatchObject({ valid: true });
    expect(await identity.stop()).toBe(0);
    if (!services().postgres.real) return;
    const sql = postgres(DATABASE_URL, { max: 1 });
    expect(await sql`select last_used_at is not null as used from identity.api_keys`).toMatchObject([
      { used: true },
    ]);
    await sql.end();
  });

  // ID-108, OP-16
  test.skipIf(!services().postgres.real)("five replicas at once, on an empty database", async () => {
    const DATABASE_URL = await freshDatabase();
    const replicas = await Promise.all(
      Array.from({ length: 5 }, () => startProcess("apps/identity/main.ts", { DATABASE_URL })),
    );
    for (const { internalUrl } of replicas) {
      expect((await fetch(`${internalUrl}/health/ready`)).status).toBe(200);
    }
    expect(await Promise.all(replicas.map((each) => each.stop()))).toEqual([0, 0, 0, 0, 0]);
  });
});
