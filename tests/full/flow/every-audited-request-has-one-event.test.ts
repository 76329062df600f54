import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { type AuditEvent, auditClient, json } from "../../app/audit/audit-service.ts";
import { type LocalGateway, startLocalGateway } from "../../support/gateway/gateway.ts";
import {
  freePort,
  freshDatabase,
  type RunningProcess,
  services,
  startProcess,
  waitFor,
} from "../../support/index.ts";

setDefaultTimeout(180_000);

/** The number of requests that are served before the first restart of audit, and after each restart. */
const SERVED_BETWEEN = 200;
const CLIENTS = 16;
const TOKEN = "internal-token-of-this-test";

/** The response to one request, as the client got it. */
interface Answer {
  request_id: string;
  status: number;
}

/**
 * Starts an upstream that records the request ids it receives. The end of the path is the status to return.
 */
function startNotingService() {
  const reached: string[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch(request) {
      reached.push(request.headers.get("x-request-id") ?? "");
      const status = Number(new URL(request.url).pathname.split("/").at(-1));
      const details = { "X-Platform-Audit-Details": '{"n":{"from":1,"to":2}}' };
      return new Response("{}", { status, headers: status === 200 ? details : {} });
    },
  });
  return { reached, url: `http://127.0.0.1:${server.port}`, stop: () => server.stop(true) };
}

// GW-2, GW-141
describe.skipIf(!services().postgres.real)(
  "audited requests while the audit service is restarted three times",
  () => {
    const things = startNotingService();
    let identity: RunningProcess;
    let audit: RunningProcess;
    let gateway: LocalGateway;
    let startAudit: () => Promise<RunningProcess>;
    let organization_id: string;
    let key: string;

    beforeAll(async () => {
      const DATABASE_URL = await freshDatabase();
      const shared = { DATABASE_URL, INTERNAL_AUTH_TOKEN: TOKEN };
      const ports = { PORT: String(freePort()), INTERNAL_PORT: String(freePort()) };
      startAudit = () => startProcess("apps/audit/main.ts", { ...shared, ...ports });
      identity = await startProcess("apps/identity/main.ts", shared);
      audit = await startAudit();
      ({ organization_id, key } = await foundOrganization());
      gateway = await startLocalGateway({
        AUDIT_ENABLED: "true",
        AUDIT_URL: audit.internalUrl,
        CREDENTIAL_VALIDATE_URL: `${identity.internalUrl}/internal/credentials/validate`,
        INTERNAL_AUTH_TOKEN: TOKEN,
      });
      await gateway.publish({
        things: {
          url: things.url,
          organization: {
            routes: [{ path: "/org/things/{thing_id}/{status}", methods: ["POST"] }],
          },
        },
        identity: {
          url: identity.url,
          organization: {
            routes: [
              { path: "/org", upstream: "/organizations/{subject.organization_id}", methods: ["PATCH"] },
            ],
          },
        },
      });
    });
    afterAll(async () => {
      await gateway.close();
      await Promise.all([audit.stop(), identity.stop(), things.stop()]);
    });

    async function call(url: string, method: string, body: unknown) {
      const headers = { "Content-Type": "application/json", "X-Platform-Internal-Token": TOKEN };
      return json(
        await fetch(url, { method, headers, ...(method === "GET" ? {} : { body: JSON.stringify(body) }) }),
      );
    }

    async function foundOrganization() {
      const validate = `${identity.internalUrl}/internal/credentials/validate`;
      const { user_id } = await call(validate, "POST", { idp: { issuer: "https://i", subject: "s" } });
      const organization = await call(`${identity.url}/users/${user_id}/organizations`, "POST", {
        name: "Things",
      });
      const { memberships } = await call(`${identity.url}/users/${user_id}/memberships`, "GET", null);
      const { key } = await call(`${identity.url}/members/${memberships[0].id}/api-keys`, "POST", {
        name: "test",
      });
      return { organization_id: organization.id, key };
    }

    /** Sends a request: one in four goes to identity, the others to the recording upstream. */
    async function request(n: number): Promise<Answer> {
      const [method, path] =
        n % 4 === 0 ? ["PATCH", "/org"] : ["POST", `/org/things/${n}/${[200, 404, 500][n % 3]}`];
      const response = await fetch(`${gateway.url}${path}`, {
        method,
        headers: { "X-API-Key": key, "Content-Type": "application/json" },
        body: JSON.stringify({ name: `Things ${n}` }),
      });
      await response.arrayBuffer();
      return { request_id: response.headers.get("x-request-id") ?? "", status: response.status };
    }

    async function allEvents(): Promise<AuditEvent[]> {
      const client = auditClient("", audit.url, audit.internalUrl, async () => {});
      const text = await (
        await client.get(`/organizations/${organization_id}/audit-events`, { Accept: "application/x-ndjson" })
      ).text();
      return text
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line));
    }

    /** Returns the ids of the requests that reached identity, from identity's log. */
    const reachedIdentity = () =>
      identity
        .logs()
        .filter((line) => line.route === "/organizations/{organization_id}" && line.method === "PATCH")
        .map((line) => String(line.request_id));

    test("have one event each if they reached a service, and reached no service if the client got 503", async () => {
      const answers: Answer[] = [];
      let isOver = false;
      let next = 0;
      const clients = Array.from({ length: CLIENTS }, async () => {
        while (!isOver) answers.push(await request(next++));
      });
      const refused = () => answers.filter(({ status }) => status === 503).length;
      const serveMore = () => {
        const enough = answers.length - refused() + SERVED_BETWEEN;
        return waitFor(() => answers.length - refused() >= enough, { timeoutMs: 60_000 });
      };
      try {
        for (const end of [() => audit.kill(), () => audit.stop(), () => audit.stop("SIGKILL")]) {
          await serveMore();
          const before = refused();
          await end();
          await waitFor(() => refused() > before, { timeoutMs: 30_000, what: "the refusal of a request" });
          audit = await startAudit();
        }
        await serveMore();
      } finally {
        isOver = true;
      }
      await Promise.all(clients);

      expect(answers).toHaveLength(next);
      expect(new Set(answers.map(({ request_id }) => request_id)).size).toBe(next);
      const served = answers.filter(({ status }) => status !== 503);
      const reached = await waitFor(() => {
        const all = [...things.reached, ...reachedIdentity()];
        return all.length >= served.length ? all : null;
      });
      expect(reached.toSorted()).toEqual(served.map(({ request_id }) => request_id).toSorted());
      expect(refused()).toBeGreaterThanOrEqual(3);

      const events = await waitFor(
        async () => {
          const all = await allEvents();
          return all.every(({ outcome }) => outcome !== "pending") ? all : null;
        },
        { timeoutMs: 60_000, what: "the outcome of every event" },
      );
      const byRequest = new Map(events.map((event) => [event.request_id, event]));
      expect(byRequest.size).toBe(events.length);
      for (const { request_id, status } of served) {
        expect(byRequest.get(request_id)).toMatchObject({ outcome: "responded", status });
        byRequest.delete(request_id);
      }
      // Audit can write an intent whose response is lost. The gateway refuses the request with 503 and then
      // writes the outcome `rejected`.
      for (const event of byRequest.values())
        expect(event).toMatchObject({ outcome: "rejected", status: 503 });
      expect(answers.map(({ request_id }) => request_id)).toEqual(
        expect.arrayContaining([...byRequest.keys()]),
      );
    });
  },
);
