import type { Clock } from "@ostiary/lib/async";
import { listItems, peerTls } from "@ostiary/lib/runtime/config";
import type { Logger } from "@ostiary/lib/runtime/telemetry";
import { createKeySet, createTokenVerifier, type VerifyToken } from "@ostiary/lib/runtime/tokens";
import type { OperatorConfig } from "./config.ts";

/** The OpenID provider that signs tokens of operators (RG-123). */
export interface OperatorProvider {
  readonly issuer: string;
  readonly verify: VerifyToken;
  /** Returns whether the latest request for the provider's keys failed. */
  failing(): boolean;
  start(): void;
  stop(): void;
}

/** Returns the provider that the variables name, or null without one. */
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
    variable: "OPERATOR_JWKS_URI",
  });
  const rules = {
    issuer,
    audiences: listItems(audiences),
    variables: { issuer: "OPERATOR_ISSUER", audiences: "OPERATOR_AUDIENCE" },
    subjectPath: ["sub"],
  };
  return {
    issuer,
    verify: createTokenVerifier(rules, keySet, () => clock.now()),
    failing: () => keySet.failing(),
    start: () => keySet.start(),
    stop: () => keySet.stop(),
  };
}
