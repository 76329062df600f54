import { LIMIT, memberRoute } from "../gateway/catalog.ts";
import type { Identity } from "../gateway/identity.ts";
import { MEMBER_HEADERS, startGateway } from "../gateway/subjects.ts";
import type { Bed, Started } from "../measure/bed.ts";
import type { Titled } from "./half-load.ts";

const RECORDED = "/org/recorded/things";

/** Starts a gateway whose only route is audited, with an audit service and a PostgreSQL that writes to disk. */
export async function startAudited(
  bed: Bed,
  behind: Identity & { readonly upstream: Started; readonly redisUrl: string },
): Promise<Titled> {
  const database = await bed.database();
  const audit = await bed.process("apps/audit/main.ts", { DATABASE_URL: database.url });
  const route = { ...memberRoute(RECORDED, LIMIT), methods: ["POST" as const], audit: true };
  const service = { url: behind.upstream.url, organization: { routes: [route] } };
  const variables = { AUDIT_URL: audit.internalUrl };
  const gateway = await startGateway(bed, behind, [["recorded", service]], { variables });
  const target = { ...gateway, method: "POST", headers: MEMBER_HEADERS, paths: [`${RECORDED}/1`] };
  return { title: "gateway, all features, audited POST", target };
}
