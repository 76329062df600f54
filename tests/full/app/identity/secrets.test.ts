/**
 * Tests that keys, sessions and invite tokens are returned once, to their creator, and appear nowhere else.
 * The test searches the database, logs, later responses, traces and metrics of a service process.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { openDatabase, rows } from "@ostiary/lib/runtime/stores/database";
import { sql } from "drizzle-orm";
import { freshDatabase, type RunningProcess, services, startProcess } from "../../../support/index.ts";

const PEPPER = "pepper-of-this-test-0123456789abcdef";
const PREVIOUS_PEPPER = "another-pepper-0123456789-of-this-test";
const INTERNAL_TOKEN = "internal-token-of-this-test";

/** The test opens the service's database in this process, which needs a PostgreSQL server. */
const real = services().postgres.real;
let collected = "";
let collector: Bun.Server<undefined>;
let databaseUrl: string;
let identity: RunningProcess;

beforeAll(async () => {
  if (!real) return;
  collector = Bun.serve({
    port: 0,
    async fetch(request) {
      collected += Buffer.from(await request.arrayBuffer()).toString("latin1");
      return new Response();
    },
  });
  databaseUrl = await freshDatabase();
  identity = await startProcess("apps/identity/main.ts", {
    DATABASE_URL: databaseUrl,
    ROLES_FILE: "seeds/roles.yaml",
    INTERNAL_AUTH_TOKEN: INTERNAL_TOKEN,
    SECRET_PEPPER: PEPPER,
    SECRET_PEPPER_PREVIOUS: PREVIOUS_PEPPER,
    LOG_LEVEL: "debug",
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url.origin,
  });
});
afterAll(() => collector?.stop(true));

/** All responses, without the fields that return a new secret. */
let responses = "";

async function call(method: string, path: string, body?: unknown, secretField?: string) {
  const internal = path.startsWith("/internal/");
  const response = await fetch(`${internal ? identity.internalUrl : identity.url}${path}`, {
    method,
    headers: { "Content-Type": "application/json", "X-Platform-Internal-Token": INTERNAL_TOKEN },
    body: body === undefined ? undefined : typeof body === "string" ? body : JSON.stringify(body),
  });
  const text = await response.text();
  const parsed = text === "" ? {} : JSON.parse(text);
  const { [secretField ?? ""]: secret, ...rest } = parsed;
  responses += JSON.stringify([...response.headers, rest]);
  return { ...parsed, secret: String(secret) };
}

async function stored(): Promise<string> {
  const database = await openDatabase(databaseUrl, { namespace: "identity" });
  const tables = ["users", "idp_links", "members", "api_keys", "sessions", "invites", "lifecycle_events"];
  const texts = await Promise.all(
    tables.map((table) =>
      database.run("inspect", (orm) =>
        rows<{ line: string }>(
          orm,
          sql`select line::text as line from ${sql.identifier("identity")}.${sql.identifier(table)} line`,
        ),
      ),
    ),
  );
  await database.close();
  return JSON.stringify(texts);
}

// ID-83, OP-42
test.skipIf(!real)(
  "keys, sessions and spent invite tokens are in no table, log, error, header, metric or trace",
  async () => {
    const idp = { issuer: "https://login.example.com", subject: "ada" };
    const { user_id } = await call("POST", "/internal/credentials/validate", { idp });
    const organization = await call("POST", `/users/${user_id}/organizations`, { name: "Acme" });
    const inOrganization = `/organizations/${organization.id}`;
    const [member] = (await call("GET", `${inOrganization}/members`)).members;
    const account = await call("POST", `${inOrganization}/service-accounts`, { name: "Bot" });
    const secrets = [
      (await call("POST", `/users/${user_id}/api-keys`, {}, "key")).secret,
      (await call("POST", `/members/${member.id}/api-keys`, {}, "key")).secret,
      (await call("POST", `${inOrganization}/service-accounts/${account.id}/api-keys`, {}, "key")).secret,
      (await call("POST", `/users/${user_id}${inOrganization}/session`, {}, "token")).secret,
    ];
    const tokens: string[] = [];
    for (const end of ["redeem", "revoke"]) {
      const invite = await call("POST", `${inOrganization}/invites`, {}, "token");
      tokens.push(invite.secret);
      if (end === "redeem") await call("POST", `/users/${user_id}/invites/redeem`, { token: invite.secret });
      else await call("DELETE", `${inOrganization}/invites/${invite.id}`);
    }
    for (const secret of [...secrets, ...tokens]) {
      await call("POST", "/internal/credentials/validate", { credential: secret });
      await call("POST", "/internal/credentials/validate", { credential: secret, unknown: secret });
      await call("POST", "/internal/credentials/validate", `{"credential":"${secret}"`);
      await call("POST", `/users/${user_id}/invites/redeem`, { token: secret });
      await call("POST", `/users/${user_id}/invites/redeem`, { token: secret, [`x-${secret}`]: 1 }, "error");
      await call("GET", `/users/${user_id}/api-keys`);
      await call("GET", `${inOrganization}/invites`);
      await call("POST", `${inOrganization}/members`, { idp: { issuer: secret, subject: "\u0000" } });
    }
    const metrics = await (await fetch(`${identity.internalUrl}/metrics`)).text();
    const inDatabase = await stored();
    expect(await identity.stop()).toBe(0);

    const written = [...identity.stdout, ...identity.stderr].join("\n");
    expect(written).toContain("request completed");
    expect(collected).toContain("/internal/credentials/validate");
    const everything = { inDatabase, responses, written, metrics, collected };
    for (const [where, text] of Object.entries(everything)) {
      expect(text.length).toBeGreaterThan(1000);
      for (const secret of [...secrets, ...tokens, INTERNAL_TOKEN, PEPPER, PREVIOUS_PEPPER]) {
        expect({ where, secret: text.includes(secret) || text.includes(secret.slice(-20)) }).toEqual({
          where,
          secret: false,
        });
      }
    }
  },
);
