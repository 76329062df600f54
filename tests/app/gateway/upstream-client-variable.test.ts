import { expect, test } from "bun:test";
import { publicService, startLocalGateway } from "../../support/gateway/gateway.ts";
import { RawUpstream } from "../../support/http/raw-http.ts";

// GW-169
test("UPSTREAM_CLIENT selects the HTTP client for services, and both clients work", async () => {
  const opened = async (env: Record<string, string>) => {
    const gateway = await startLocalGateway(env);
    const service = new RawUpstream();
    await gateway.publish({ things: publicService(service.url, { path: "/things", methods: ["GET"] }) });
    for (let nth = 0; nth < 3; nth++) expect((await fetch(`${gateway.url}/things`)).status).toBe(200);
    const metrics = await gateway.metrics();
    await gateway.close();
    service.close();
    return (
      /^gateway_upstream_connections_opened_total\{service="things"\} (\d+)$/m.exec(metrics)?.[1] ?? null
    );
  };
  expect(await opened({})).toBe("1");
  expect(await opened({ UPSTREAM_CLIENT: "pool" })).toBe("1");
  expect(await opened({ UPSTREAM_CLIENT: "fetch" })).toBeNull();
});
