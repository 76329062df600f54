import { type AuditStandIn, startAudit } from "./audit-stand-in.ts";
import { type IdentityStandIn, member, startIdentity } from "./identity-stand-in.ts";

/** A key of the member that {@link GatewayNeighbours} admits unless told otherwise. */
export const MEMBER_KEY = `acme-k-2-${"a".repeat(43)}`;

/** Identity and audit, as a gateway sees them. */
export class GatewayNeighbours {
  readonly identity: IdentityStandIn = startIdentity();
  readonly audit: AuditStandIn = startAudit();

  /** @param admitted what identity answers, by credential */
  constructor(admitted: Readonly<Record<string, unknown>> = { [MEMBER_KEY]: member() }) {
    for (const [credential, result] of Object.entries(admitted))
      this.identity.results.set(credential, result);
  }

  /** Variables by which a gateway finds them. */
  get env() {
    return {
      CREDENTIAL_VALIDATE_URL: this.identity.url,
      AUDIT_ENABLED: "true",
      AUDIT_URL: this.audit.url,
    };
  }

  async stop(): Promise<void> {
    await Promise.all([this.identity.stop(), this.audit.stop()]);
  }
}
