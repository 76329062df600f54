import type { Bed, Started } from "../gateway/bed.ts";
import { LIMIT } from "../gateway/catalog.ts";
import type { Identity } from "../gateway/identity.ts";
import { MEMBER_HEADERS, startGateway } from "../gateway/subjects.ts";
import type { ServiceBed } from "../measure/service-bed.ts";
import { memberRoute } from "./catalog.ts";
import type { Titled } from "./half-load.ts";

const RECORDED = "/org/recorded/things";

/** Starts a gateway whose only route is audited, with an audit service and a PostgreSQL that writes to disk. */
export async function startAudited(
  bed: Bed,
  stores: ServiceBed,
  behind: Identity & { readonly upstream: Started; readonly redisUrl: string },
): Promise<Titled> {
  const database = await stores.database();
  const audit = await stores.process("apps/audit/main.ts", { DATABASE_URL: database.url });
  const route = { ...memberRoute(RECORDED, LIMIT), methods: ["POST" as const], audit: true };
  const service = { url: behind.upstream.url, organization: { routes: [route] } };
  const variables = { AUDIT_URL: audit.internalUrl };
  const gateway = await startGateway(bed, behind, [["recorded", service]], { variables });
  const target = { ...gateway, method: "POST", headers: MEMBER_HEADERS, paths: [`${RECORDED}/1`] };
  return { title: "gateway, whole job, audited POST", target };
}
