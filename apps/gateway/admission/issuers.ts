import type { Clock } from "@ostiary/lib/async";
import { listItems, peerTls } from "@ostiary/lib/runtime/config";
import type { Logger } from "@ostiary/lib/runtime/telemetry";
import { createKeySet, createTokenVerifier, type VerifyToken } from "@ostiary/lib/runtime/tokens";
import type { AdmissionConfig } from "./config.ts";
import { type ListedIssuer, loadIssuersFile } from "./issuers-file.ts";

interface Issuers {
  readonly verify: VerifyToken;
  ready(): boolean;
  start(): void;
  stop(): void;
}

const FILE = "AUTH_ISSUERS_FILE";

/** @throws ConfigError if AUTH_ISSUERS_FILE is not valid */
export function openIssuers(
  config: AdmissionConfig,
  log: Pick<Logger, "info" | "warn">,
  clock: Clock,
): Issuers {
  const { AUTH_ISSUERS_FILE: file } = config;
  const listed = file === undefined ? issuerOfVariables(config) : loadIssuersFile(file);
  const variables =
    file === undefined
      ? { keys: "AUTH_JWKS_URI", issuers: "AUTH_ISSUER", audiences: "AUTH_ALLOWED_AUDIENCES" }
      : { keys: FILE, issuers: FILE, audiences: `audiences in ${FILE}` };
  const tls = peerTls(config, "AUTH_JWKS");
  const issuers = listed.map(({ jwks_uri: uri, ...rules }) => {
    const source = { variable: variables.keys, ...(file !== undefined && { issuer: rules.issuer }) };
    return { ...rules, keySet: createKeySet({ uri, tls, log, clock, source }) };
  });
  return {
    verify: createTokenVerifier({ issuers, variables, now: () => clock.now() }),
    ready: () => issuers.some(({ keySet }) => keySet.current() !== null),
    start() {
      if (issuers.length === 0) warnOfNoIssuer(config, log);
      for (const { keySet } of issuers) keySet.start();
    },
    stop() {
      for (const { keySet } of issuers) keySet.stop();
    },
  };
}

function issuerOfVariables(config: AdmissionConfig): ListedIssuer[] {
  const { AUTH_ISSUER: issuer, AUTH_JWKS_URI: jwks_uri } = config;
  if (issuer === undefined || jwks_uri === undefined) return [];
  const audiences = listItems(config.AUTH_ALLOWED_AUDIENCES ?? "");
  const subjectPath = (config.AUTH_USER_ID_CLAIM ?? "sub").split(".");
  return [{ issuer, jwks_uri, audiences, subjectPath, tenants: null }];
}

function warnOfNoIssuer(config: AdmissionConfig, log: Pick<Logger, "warn">): void {
  const missing = (["AUTH_ISSUER", "AUTH_JWKS_URI"] as const).filter((name) => config[name] === undefined);
  log.warn(
    { missing },
    "neither AUTH_ISSUERS_FILE nor both AUTH_ISSUER and AUTH_JWKS_URI are set: the gateway cannot verify JWTs and never becomes ready",
  );
}
