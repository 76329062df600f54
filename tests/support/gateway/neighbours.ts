import type { StoredServiceConfig } from "@ostiary/lib/domain/routes";
import { type AuditStandIn, startAudit } from "./audit-stand-in.ts";
import { type LocalGateway, startLocalGateway } from "./gateway.ts";
import { type IdentityStandIn, member, startIdentity } from "./identity-stand-in.ts";

/** The key of the member that `GatewayNeighbours` admits by default. */
export const MEMBER_KEY = `acme-k-2-${"a".repeat(43)}`;

/** Stand-ins for the identity and audit services that a gateway calls. */
export class GatewayNeighbours {
  readonly identity: IdentityStandIn = startIdentity();
  readonly audit: AuditStandIn = startAudit();

  #gateway: LocalGateway | null = null;

  /** @param admitted the results of validation, by credential */
  constructor(admitted: Readonly<Record<string, unknown>> = { [MEMBER_KEY]: member() }) {
    for (const [credential, result] of Object.entries(admitted))
      this.identity.results.set(credential, result);
  }

  get gateway(): LocalGateway {
    if (this.#gateway === null) throw new Error("The gateway has not been started.");
    return this.#gateway;
  }

  get env() {
    return {
      CREDENTIAL_VALIDATE_URL: this.identity.url,
      AUDIT_ENABLED: "true",
      AUDIT_URL: this.audit.url,
    };
  }

  /** Starts a gateway that calls the stand-ins, with more variables, and publishes services. */
  async open(
    variables: Record<string, string>,
    services: Record<string, StoredServiceConfig>,
  ): Promise<void> {
    this.#gateway = await startLocalGateway({ ...this.env, ...variables });
    await this.#gateway.publish(services);
  }

  async stop(): Promise<void> {
    await this.#gateway?.close();
    await Promise.all([this.identity.stop(), this.audit.stop()]);
  }
}
