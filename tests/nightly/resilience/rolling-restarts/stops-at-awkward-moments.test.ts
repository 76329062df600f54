/** Tests of a stop signal in the middle of a request, or while a service starts. */
import { afterAll, afterEach, describe, expect, test } from "bun:test";
import { publicService } from "../../../support/gateway/gateway.ts";
import { startGateway } from "../../../support/gateway/gateway-process.ts";
import { headerValue, RawClient, RawUpstream, spell } from "../../../support/http/raw-http.ts";
import { leash } from "../../../support/processes/clean-up-after-kill.ts";
import { type RunningProcess, startProcess } from "../../../support/processes/start-process.ts";
import { ROOT } from "../../../support/root.ts";
import { freshDatabase, services } from "../../../support/stores/services.ts";
import { waitFor } from "../../../support/time/wait-for.ts";

const GRACE_MS = 500;
const TIMEOUT_MS = 3_000;
const { postgres, etcd } = services();

describe.skipIf(!etcd.real)("a gateway that is told to stop", () => {
  const service = new RawUpstream();
  let gateway: RunningProcess | undefined;

  afterAll(() => service.close());
  afterEach(async () => {
    await gateway?.kill();
    service.requests.length = 0;
  });

  async function start(): Promise<RunningProcess> {
    const things = publicService(service.url, { path: "/things", methods: ["GET", "POST"] });
    gateway = await startGateway({
      services: { things },
      env: {
        RATE_LIMIT_AUTH_FAILURE_REQUESTS: "0",
        SHUTDOWN_GRACE_MS: String(GRACE_MS),
        SHUTDOWN_TIMEOUT_MS: String(TIMEOUT_MS),
      },
    });
    return gateway;
  }

  /** Waits until the gateway's port is closed, which happens when its grace time is over. */
  const closed = ({ url }: RunningProcess) =>
    waitFor(async () => {
      const client = await RawClient.connect(url).catch(() => null);
      client?.destroy();
      return client === null;
    });

  // GW-158
  test("reads the rest of an incomplete request body, small or large, and responds", async () => {
    const running = await start();
    const bodies = ["x".repeat(1_000), "x".repeat(300_000)];
    const clients = await Promise.all(
      bodies.map(async (body) => {
        const client = await RawClient.connect(running.url);
        client.send(spell("POST", "/things", { "Content-Length": String(body.length) }, body.slice(0, 100)));
        return { client, rest: body.slice(100) };
      }),
    );
    const chunked = await RawClient.connect(running.url);
    chunked.send(spell("POST", "/things", { "Transfer-Encoding": "chunked" }, "3\r\nabc\r\n"));
    // The gateway has read the earlier heads when it responds to a request on a later connection.
    const last = await RawClient.connect(running.url);
    last.send(spell("GET", "/things"));
    await last.response();
    const stopped = running.stop();
    await closed(running);
    for (const { client, rest } of clients) client.send(rest);
    chunked.send("3\r\ndef\r\n0\r\n\r\n");
    for (const client of [...clients.map((each) => each.client), chunked]) {
      const response = await client.response("POST");
      expect([response.status, headerValue(response.headers, "connection")]).toEqual([200, "close"]);
    }
    const lengths = service.requests.filter(({ method }) => method === "POST").map(({ body }) => body.length);
    expect(lengths.sort((a, b) => a - b)).toEqual([6, 1_000, 300_000]);
    expect(await stopped).toBe(0);
    expect(running.stderr).toEqual([]);
  });

  // GW-158, OP-30
  test("waits no longer than its timeout for an incomplete body, an incomplete head or a next request", async () => {
    const running = await start();
    const [body, head, idle] = await Promise.all([1, 2, 3].map(() => RawClient.connect(running.url)));
    body?.send(spell("POST", "/things", { "Content-Length": "100000" }, "x"));
    head?.send("GET /things HTTP/1.1\r\nHo");
    idle?.send(spell("GET", "/things"));
    await idle?.response();
    expect(await running.stop()).toBe(0);
    for (const client of [body, head, idle]) await client?.untilClosed();
    expect(running.stderr).toEqual([]);
  });
});

describe.skipIf(!postgres.real)("a service that is told to stop while it starts", () => {
  const DELAYS_MS = [0, 100, 300, 600, 1_000, 2_000];

  /** Starts identity, and sends SIGTERM once `moment` has resolved. */
  async function stopDuringStart(DATABASE_URL: string, moment: () => Promise<unknown>) {
    const { PATH = "", HOME = "" } = process.env;
    const child = Bun.spawn([process.execPath, "apps/identity/main.ts"], {
      cwd: ROOT,
      env: { PATH, HOME, HOST: "127.0.0.1", PORT: "0", INTERNAL_PORT: "0", DATABASE_URL },
      stdin: "ignore",
      stdout: "ignore",
      stderr: "pipe",
    });
    leash().process(child.pid);
    await moment();
    child.kill("SIGTERM");
    const code = await child.exited;
    leash().release(child.pid);
    return { code, stderr: await new Response(child.stderr).text() };
  }

  // OP-33
  test("exits at any moment, and leaves a database with which the next process starts", async () => {
    const DATABASE_URL = await freshDatabase();
    const codes = await Promise.all(
      DELAYS_MS.map((delayMs) => stopDuringStart(DATABASE_URL, () => Bun.sleep(delayMs))),
    );
    for (const { code, stderr } of codes) {
      // 143 is SIGTERM: the process has not installed its signal handler yet, so the kernel ends it.
      expect([0, 143]).toContain(code);
      expect(stderr).toBe("");
    }
    const next = await startProcess("apps/identity/main.ts", { DATABASE_URL });
    expect((await fetch(`${next.internalUrl}/health/ready`)).status).toBe(200);
    expect(await next.stop()).toBe(0);
  });

  // OP-33
  test("exits although it waits for the migrations of another replica", async () => {
    const DATABASE_URL = await freshDatabase();
    const sql = new Bun.SQL(DATABASE_URL, { max: 1 });
    await sql`select pg_advisory_lock(hashtextextended('migrations of identity', 0))`;
    const waiting = async () => {
      const [row] = await sql`select count(*)::integer as others from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid()`;
      return row.others > 0;
    };
    const { code, stderr } = await stopDuringStart(DATABASE_URL, () => waitFor(waiting));
    expect(code).toBe(0);
    expect(stderr).toBe("");
    await sql.end();
    const next = await startProcess("apps/identity/main.ts", { DATABASE_URL });
    expect(await next.stop()).toBe(0);
  });
});
