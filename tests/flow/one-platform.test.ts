/** One platform on embedded stores, in this process, whose services are used one after the other. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { chmod, lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import { startPlatformHere } from "../app/platform/bed.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { waitFor } from "../support/time/wait-for.ts";

setDefaultTimeout(120_000);

/** Expects that the files in a folder are for this user alone. The files of a claim are empty, or hold a process id. */
async function expectPrivate(folder: string): Promise<void> {
  const names = (await readdir(folder)).filter((name) => !/\.(lock|lock-journal|pid)$/.test(name));
  expect(names).toContain("admin-token");
  for (const name of names) {
    const { mode } = await lstat(join(folder, name));
    expect([name, mode & 0o077]).toEqual([name, 0]);
  }
}

test("a person signs in, publishes a route, is limited and audited, and sees usage, portal and console", async () => {
  const DATA_DIR = temporaryFolder("open");
  await chmod(DATA_DIR, 0o755);
  await using platform = await startPlatformHere({ RATE_LIMIT_REQUESTS: "100000", DATA_DIR });
  const { gatewayUrl, registryUrl, portalUrl } = platform.addresses;
  const call = async (path: string, headers: Record<string, string>, body?: unknown, method?: string) => {
    const response = await fetch(new URL(path, gatewayUrl), {
      method: method ?? (body === undefined ? "GET" : "POST"),
      headers,
      body: typeof body === "string" ? body : JSON.stringify(body),
    });
    const text = await response.text();
    return { status: response.status, body: text.startsWith("{") ? JSON.parse(text) : text };
  };

  // Identity: the first call creates the person, who creates an organization and a key of a service account.
  const jwt = await (await fetch(`${platform.tour?.identityProviderUrl}/token?subject=alice`)).text();
  const person = { Authorization: `Bearer ${jwt}` };
  expect(await call("/user", person)).toMatchObject({ status: 200, body: { status: "active" } });
  const { id } = (await call("/user/organizations", person, { name: "Acme" })).body;
  const opened = await call(`/user/organizations/${id}/session`, person, {});
  const session = { "X-API-Key": opened.body.token };
  const robot = (await call("/org/service-accounts", session, { name: "Robot", role: "viewer" })).body;
  const made = await call(`/org/service-accounts/${robot.id}/api-keys`, session, {});
  const key = { "X-API-Key": made.body.key };

  // Registry: an operator publishes a route, which the gateway serves.
  const operator = { Authorization: `Bearer ${await Bun.file(platform.adminTokenFile).text()}` };
  const routes = [
    { path: "/flow/{thing_id}", methods: { GET: {}, PUT: { required_labels: ["things:write"] } } },
    { path: "/flow", methods: ["GET"], rate_limit: { requests: 2, window_seconds: 3_600 } },
  ];
  const services = { flow: { url: platform.tour?.sampleServiceUrl, organization: { routes } } };
  const applied = await call(`${registryUrl}/apply?wait_ms=10000`, operator, { services });
  expect(applied).toMatchObject({ status: 200, body: { propagation: { gateways: 1, reached: 1 } } });

  // Gateway: credentials, labels and limits decide, and the service gets the caller without its credential.
  expect((await call("/flow/42", {})).status).toBe(401);
  const echo = await call("/flow/42", key);
  expect(echo).toMatchObject({ status: 200, body: { path: "/flow/42" } });
  expect(JSON.stringify(echo.body)).not.toContain(made.body.key);
  expect((await call("/flow/42", key, "black", "PUT")).status).toBe(403);
  expect((await call("/flow/42", session, "black", "PUT")).status).toBe(200);
  const limited = [1, 2, 3].map(() => call("/flow", key));
  expect((await Promise.all(limited)).map(({ status }) => status).toSorted()).toEqual([200, 200, 429]);
  expect((await call("/nowhere", session)).status).toBe(404);

  // Audit: each write has one event with its outcome, and refusals have one too.
  const outcomes = async () => {
    const { body } = await call("/org/audit-events?service=flow", session);
    return body.audit_events.map(({ outcome, status }: Record<string, unknown>) => `${outcome} ${status}`);
  };
  await waitFor(async () => (await outcomes()).includes("responded 200"), { what: "the outcome" });
  expect((await outcomes()).toSorted()).toEqual(["rejected 403", "responded 200"]);

  // The pages of customers and operators.
  for (const page of [portalUrl ?? "", `${registryUrl}/console`, `${registryUrl}/edge`]) {
    expect(await call(page, {})).toMatchObject({ status: 200, body: expect.stringContaining("<script") });
  }

  // Usage: the gateway reports its counts to audit.
  const usage = await waitFor(
    async () => {
      const { body } = await call("/org/usage?by=service", session);
      return body.usage.length > 0 && body.usage;
    },
    { what: "the report of usage" },
  );
  expect(usage).toMatchObject([{ service: "flow", requests: 6, refused: 2 }]);

  await expectPrivate(DATA_DIR);
});
