import type { Clock } from "@ostiary/lib/async";
import { listItems, peerTls } from "@ostiary/lib/runtime/config";
import type { Logger } from "@ostiary/lib/runtime/telemetry";
import { createKeySet, createTokenVerifier, type VerifyToken } from "@ostiary/lib/runtime/tokens";
import type { OperatorConfig } from "./config.ts";

/** The identity provider that signs the JWTs of operators (RG-123). */
export interface OperatorProvider {
  readonly issuer: string;
  readonly verify: VerifyToken;
  /** Tells whether the latest request for the identity provider's keys failed. */
  failing(): boolean;
  start(): void;
  stop(): void;
}

/** Returns the identity provider that the environment variables name, or null if they name none. */
export function createOperatorProvider(
  config: OperatorConfig,
  log: Pick<Logger, "info" | "warn">,
  clock: Clock,
): OperatorProvider | null {
  const { OPERATOR_ISSUER: issuer, OPERATOR_JWKS_URI: uri, OPERATOR_AUDIENCE: audiences } = config;
  if (issuer === undefined || uri === undefined || audiences === undefined) return null;
  const keySet = createKeySet({
    uri,
    tls: peerTls(config, "OPERATOR_JWKS"),
    log,
    clock,
    source: { variable: "OPERATOR_JWKS_URI" },
  });
  const rules = { issuer, tenants: null, audiences: listItems(audiences), subjectPath: ["sub"], keySet };
  return {
    issuer,
    verify: createTokenVerifier({
      issuers: [rules],
      variables: { issuers: "OPERATOR_ISSUER", audiences: "OPERATOR_AUDIENCE" },
      now: () => clock.now(),
    }),
    failing: () => keySet.failing(),
    start: () => keySet.start(),
    stop: () => keySet.stop(),
  };
}
