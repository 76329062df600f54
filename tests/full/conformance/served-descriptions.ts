import { startAudit } from "../../app/audit/bed.ts";
import { startIdentity } from "../../app/identity/bed.ts";
import { startRegistry } from "../../app/registry/bed.ts";
import type { OpenApiDocument } from "../../support/http/openapi.ts";

/** Returns the descriptions that all ports serve. Identity's depends on whether roles are configured. */
export async function servedDocuments(): Promise<
  Record<string, OpenApiDocument> & { registry: OpenApiDocument }
> {
  const [identity, audit, registry] = await Promise.all([startIdentity(), startAudit(), startRegistry()]);
  try {
    const at = async (url: string) => JSON.parse(await (await fetch(`${url}/swagger/json`)).text());
    return {
      identity: (await identity.call("GET", "/swagger/json")).body,
      "identity without roles": (await (await identity.restarted(null)).call("GET", "/swagger/json")).body,
      "identity's internal port": (await identity.internal("GET", "/swagger/json")).body,
      audit: await at(audit.url),
      "audit's internal port": await at(audit.internalUrl),
      registry: await at(registry.url),
    };
  } finally {
    await Promise.all([identity.close(), audit.stop(), registry.stop()]);
  }
}
