import { describe, expect, test } from "bun:test";
import { freshDatabase, ProcessEnded, rejection, services, startProcess } from "../../support/index.ts";

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

  // ID-78
  test.each(["Acme", "1acme", "a-b", "a_b", "", " ", "a".repeat(33), "é"])(
    "with the brand %p",
    async (brand) => {
      const { exitCode, stderr } = await refusal({ ...MEMORY, APIKEY_BRAND: brand });
      expect(exitCode).toBe(EXIT_CONFIG);
      expect(stderr.join("\n")).toContain("APIKEY_BRAND must be");
    },
  );

  test("without a database URL", async () => {
    const { exitCode, stderr } = await refusal({});
    expect(exitCode).toBe(EXIT_CONFIG);
    expect(stderr.join("\n")).toContain("DATABASE_URL is required");
  });
});

describe("identity boots", () => {
  const rolesOff: Record<string, string>[] = [{}, { ROLES_FILE: "" }];
  // ID-72
  test.each(rolesOff)("with roles off and a warning, if the environment is %p", async (env) => {
    const identity = await startProcess("apps/identity/main.ts", {
      DATABASE_URL: await freshDatabase(),
      ...env,
    });
    expect(identity.logs()).toContainEqual(
      expect.objectContaining({ level: "warn", message: expect.stringContaining("roles are off") }),
    );
    expect(await identity.stop()).toBe(0);
  });

  test("with the roles of seeds/, without a warning and with the default brand", async () => {
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
    const { user_id } = await post(`${identity.internalUrl}/internal/credentials/validate`, { idp });
    const { key } = await post(`${identity.url}/users/${user_id}/api-keys`, {});
    expect(key).toStartWith("ostiary-k-2-");
    expect(await identity.stop()).toBe(0);
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
