/**
 * Tests of the messages when a store cannot be used at boot: they name the cause and the variable, never a
 * password.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { openCounterStore } from "@ostiary/lib/runtime/stores/counter-store";
import { openDatabase, StoreUnavailable } from "@ostiary/lib/runtime/stores/database";
import { openRouteStore, routeStoreBootFailure } from "@ostiary/lib/runtime/stores/route-store";
import { Etcd3, Range } from "etcd3";
import { Redis } from "ioredis";
import { duringTests } from "../../support/during-tests.ts";
import { freePort } from "../../support/http/free-port.ts";
import { rejection } from "../../support/rejection.ts";
import { ROOT } from "../../support/root.ts";
import { requireUser } from "../../support/stores/etcd-users.ts";
import type { TestServer } from "../../support/stores/server.ts";
import { services, startEtcd, startPostgres, startRedis } from "../../support/stores/services.ts";
import { connect } from "../../support/stores/sql.ts";

const SECRET = "hunter2";

async function sentence(opened: Promise<unknown>): Promise<string> {
  const error = await rejection(opened);
  expect(error).toBeInstanceOf(StoreUnavailable);
  const { message } = error instanceof Error ? error : { message: "" };
  expect(message).not.toContain(SECRET);
  return message;
}

const database = (url: string) => sentence(openDatabase(url, { namespace: "test" }));

// OP-14
describe.if(services().postgres.binary)("the message about DATABASE_URL says that", () => {
  let server: TestServer;
  let at: string;
  let boss: string;

  beforeAll(async () => {
    server = await startPostgres();
    const { host, username } = new URL(server.url);
    [at, boss] = [host, username];
    const sql = connect(server.url);
    for (const name of ["locked", "asking", "closed", "bare"]) await sql.unsafe(`create database ${name}`);
    await sql.unsafe(
      "create database latin template template0 encoding 'LATIN1' lc_collate 'C' lc_ctype 'C'",
    );
    await sql.unsafe("revoke connect on database closed from public");
    await sql.unsafe(`create role reader login password '${SECRET}'`);
    await sql.unsafe("create role ghost nologin");
    const [row] = await sql.unsafe("show hba_file");
    const rules = [
      "host locked all all reject",
      "host asking all all scram-sha-256",
      "host all all all trust",
      "local all all trust",
    ];
    const lines = rules.map((rule) => `('${rule}')`).join(", ");
    await sql.unsafe(`copy (select * from (values ${lines}) as rules) to '${row?.hba_file}'`);
    await sql.unsafe("select pg_reload_conf()");
    await sql.end();
  });
  afterAll(() => server.close());

  test.each([
    [
      "the database does not exist",
      "{boss}:hunter2@{at}/nowhere",
      "The database nowhere that DATABASE_URL names does not exist at {at}: create it, or correct the name.",
    ],
    ...["reader:hunter2-not", "nobody:hunter2", "reader"].map((user) => [
      `the server refuses the user or password ${user}`,
      `${user}@{at}/asking`,
      `The server at {at} refuses user ${user.split(":")[0]} with the password of DATABASE_URL: correct the URL, or set the password of the user again.`,
    ]),
    ...["nobody", "ghost"].map((user) => [
      `the user ${user} does not exist or may not log in`,
      `${user}:hunter2@{at}/bare`,
      `The user ${user} of DATABASE_URL does not exist at {at}, or may not log in: create the user with LOGIN.`,
    ]),
    [
      "the server does not let the user in from this machine",
      "reader:hunter2@{at}/locked",
      "The server at {at} does not let user reader of DATABASE_URL into database locked from this machine. The server may require TLS, which ?sslmode=verify-full turns on.",
    ],
    [
      "the user lacks the privilege CONNECT",
      "reader:hunter2@{at}/closed",
      "The user reader of DATABASE_URL may not connect to database closed at {at}: grant CONNECT on the database.",
    ],
    [
      "the server does not speak TLS, although sslmode requires it",
      "{boss}:hunter2@{at}/bare?sslmode=require",
      "DATABASE_URL requires TLS (sslmode), but the server at {at} does not speak TLS: correct sslmode, or turn TLS on at the server.",
    ],
    [
      "the database has another encoding than UTF-8",
      "{boss}:hunter2@{at}/latin",
      "The database latin at {at} (DATABASE_URL) has the encoding LATIN1: create a database with the encoding UTF8.",
    ],
    [
      "the server refuses an unknown option",
      "{boss}:hunter2@{at}/bare?no_such_option=1",
      "The server at {at} does not accept the setting no_such_option in DATABASE_URL: correct the setting, or remove it.",
    ],
  ])("%s", async (_, url = "", expected = "") => {
    const filled = (text: string) => text.replace("{at}", at).replace("{boss}", boss);
    expect(await database(filled(`postgres://${url}`))).toBe(filled(expected));
  });

  test.each([
    [
      "the user may not change the schema, and which privilege is needed",
      () => `reader:${SECRET}@${at}/bare`,
      "Error: The user of DATABASE_URL may not change schema audit: grant the user CREATE on the database, make the user the schema's owner, or let the owner migrate first.",
    ],
    [
      "the server is read-only",
      () => `${boss}@${at}/bare?default_transaction_read_only=on`,
      "Error: The server of DATABASE_URL is read-only, like a standby: set DATABASE_URL to the primary.",
    ],
  ])("%s", async (_, url, expected) => {
    const opened = await openDatabase(`postgres://${url()}`, { namespace: "test" });
    const error = await rejection(opened.migrate("audit", join(ROOT, "drizzle/audit")));
    await opened.close();
    expect(String(error)).toBe(expected);
  });
});

describe("the message about DATABASE_URL without a PostgreSQL server says that", () => {
  test("nothing listens at the address", async () => {
    const port = freePort();
    expect(await database(`postgres://u:${SECRET}@127.0.0.1:${port}/x`)).toBe(
      `Nothing listens at 127.0.0.1:${port} (DATABASE_URL): start the server, or correct the URL.`,
    );
  });

  const others: [what: string, onData: (socket: { end(text?: string): unknown }) => void][] = [
    ["sends nothing", () => {}],
    ["closes the connection", (socket) => socket.end()],
    ["speaks HTTP", (socket) => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n")],
  ];
  // The tests run concurrently, because each waits until the timeout of a start.
  test.concurrent.each(others)(
    "the database does not respond, for another program that %s",
    async (_, data) => {
      const other = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data } });
      try {
        expect(await database(`postgres://u:${SECRET}@127.0.0.1:${other.port}/x`)).toBe(
          `The database at 127.0.0.1:${other.port} (DATABASE_URL) does not respond: check that the server runs and that the network lets connections through.`,
        );
      } finally {
        other.stop(true);
      }
    },
  );
});

// OP-14
describe.if(services().redis.binary)("a counter store with a password", () => {
  let server: TestServer;
  let at: string;

  beforeAll(async () => {
    server = await startRedis();
    at = new URL(server.url).host;
    const admin = new Redis(server.url);
    await admin.config("SET", "requirepass", SECRET);
    admin.disconnect();
  });
  afterAll(() => server.close());

  const refusals: [userinfo: string, sentence: string][] = [
    [
      "redis://@/0",
      "The counter store asks for a password, but COUNTER_STORE_URL has none: write redis://user:password@host:port.",
    ],
    [
      "redis://:hunter2-not@/0",
      "The counter store does not accept the user and password of COUNTER_STORE_URL: correct them.",
    ],
    [
      "redis://ada:hunter2@/0",
      "The counter store does not accept the user and password of COUNTER_STORE_URL: correct them.",
    ],
    [
      "redis://:hunter2@/9999",
      "The counter store has no database with the number in COUNTER_STORE_URL: end the URL with the number of an existing database, such as /0.",
    ],
    [
      "redis+cluster://:hunter2-not@",
      "The counter store does not accept the user and password of COUNTER_STORE_URL: correct them.",
    ],
    [
      "redis+cluster://:hunter2@",
      "COUNTER_STORE_URL begins with redis+cluster://, but the server is not a cluster: write redis://.",
    ],
  ];
  test.each(refusals)("refuses %s: %s", async (url, expected) => {
    expect(await sentence(openCounterStore(url.replace("@", `@${at}`)))).toBe(expected);
  });

  test("can be used by a user with only the documented permissions", async () => {
    const admin = new Redis(`redis://:${SECRET}@${at}`);
    const commands = "eval evalsha get set incr decr pttl pexpire time ping client";
    const rights = commands.split(" ").map((command) => `+${command}`);
    await admin.call("ACL", "SETUSER", "counting", "on", `>${SECRET}`, "~*", "-@all", ...rights);
    await admin.call("ACL", "LOG", "RESET");
    const store = await openCounterStore(`redis://counting:${SECRET}@${at}`);
    expect((await store.increment("rights", 60)).count).toBe(1);
    const charge = { bucket: "charged", windowMs: 60_000, isPeriod: false, requests: 9, start: 4 };
    const [charged] = (await store.charge([charge])) ?? [];
    expect(charged?.count).toBe(5);
    expect(await store.refund([{ bucket: "charged", endsMs: charged?.endsMs ?? 0 }])).toEqual([true]);
    await store.ping();
    expect(await admin.call("ACL", "LOG")).toEqual([]);
    await store.close();
    admin.disconnect();
  });
});

// OP-14
describe.if(services().etcd.real)("the message about ROUTE_STORE_URL", () => {
  const server = duringTests(startEtcd);

  async function refusal(userinfo: string): Promise<string> {
    const store = await openRouteStore(server.url.replace("//", `//${userinfo}`));
    const error = await rejection(store.summarize("edge/gateway/routes/"));
    await store.close();
    const { failure, refused } = routeStoreBootFailure(error);
    expect([refused, failure.message.includes(SECRET)]).toEqual([true, false]);
    return failure.message;
  }

  test("says what is wrong with the user, and names a right with which the user may read and write the routes", async () => {
    expect(await refusal(`root:${SECRET}@`)).toBe(
      "The route store has no authentication, but ROUTE_STORE_URL has a user: remove the user, or turn authentication on.",
    );
    await requireUser(server.url, SECRET, ["plain"]);
    expect(await refusal("")).toBe(
      "The route store asks for a user and a password, but ROUTE_STORE_URL has none: write http://user:password@host:port.",
    );
    expect(await refusal(`root:${SECRET}-not@`)).toBe(
      "The route store does not accept the user and password of ROUTE_STORE_URL: correct them.",
    );
    expect(await refusal(`plain:${SECRET}@`)).toBe(
      "The route store denies the user of ROUTE_STORE_URL a key: grant its role readwrite on the prefix edge/gateway/.",
    );
    const root = new Etcd3({ hosts: server.url, auth: { username: "root", password: SECRET } });
    const role = await root.role("advised").create();
    await role.grant({ permission: "Readwrite", range: Range.prefix("edge/gateway/") });
    await role.addUser("plain");
    root.close();
    const store = await openRouteStore(server.url.replace("//", `//plain:${SECRET}@`));
    await store.ping(5_000);
    const fence = { key: "edge/gateway/revisions/a", value: 1 };
    expect(await store.writeFenced({ key: "edge/gateway/routes/a", value: "1", fence })).toBe(true);
    expect(await store.summarize("edge/gateway/routes/")).toMatchObject({ count: 1 });
    await store.close();
  });
});
