import { expect, test } from "bun:test";
import { freshDatabase, startProcess } from "../../support/index.ts";
import { startAudit } from "../audit/bed.ts";
import { ADMIN_TOKEN, startRegistry } from "../registry/bed.ts";

const env = { SWAGGER_ENABLED: "false" };

/** Starts each service without its Swagger page. `urls` has the ports' URLs. */
const services = {
  identity: async () => {
    const identity = await startProcess("apps/identity/main.ts", {
      DATABASE_URL: await freshDatabase(),
      ...env,
    });
    expect((await fetch(`${identity.url}/users`)).status).toBe(200);
    return { urls: [identity.url, identity.internalUrl], stop: () => identity.stop() };
  },
  audit: async () => {
    const audit = await startAudit({ env });
    return { urls: [audit.url, audit.internalUrl], stop: () => audit.stop() };
  },
  registry: async () => {
    const registry = await startRegistry({ env });
    return { urls: [registry.url], stop: () => registry.stop() };
  },
};

// RG-98
test.each(Object.entries(services))("%s has no Swagger page with SWAGGER_ENABLED=false", async (_, start) => {
  const { urls, stop } = await start();
  try {
    for (const path of ["/swagger", "/swagger/json", "/swagger/assets/swagger-ui.css"]) {
      const statuses = urls.map(async (url) => {
        const headers = { Authorization: `Bearer ${ADMIN_TOKEN}` };
        return (await fetch(`${url}${path}`, { headers })).status;
      });
      expect(await Promise.all(statuses)).toEqual(urls.map(() => 404));
    }
  } finally {
    await stop();
  }
});
