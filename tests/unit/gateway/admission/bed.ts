import { ApiError } from "@ostiary/lib/domain/errors";
import { loadConfig } from "@ostiary/lib/runtime/config";
import { CredentialRefusal } from "@ostiary/lib/runtime/tokens";
import { Type } from "@sinclair/typebox";
import { type AdmissionConfig, admissionVariables } from "../../../../apps/gateway/admission/config.ts";
import type { Principal } from "../../../../apps/gateway/admission/principal.ts";
import { createAuthenticator, type ProtectedScope } from "../../../../apps/gateway/steps/authenticate.ts";
import { type IdentityStandIn, startIdentity } from "../../../support/gateway/identity-stand-in.ts";
import { type ManualClock, manualClock } from "../../../support/time/manual-clock.ts";

export const ISSUER = "https://login.example.com";
const NOWHERE = "http://127.0.0.1:1/";

/** The headers of a request that admission reads. */
export type Presented = Readonly<Record<string, string>>;

/** An authenticator with a stand-in for the identity service and a manual clock. */
export interface Admission {
  readonly identity: IdentityStandIn;
  readonly time: ManualClock;
  /** The log lines of the authenticator. */
  readonly lines: string[];
  ready(): boolean;
  authenticate(scope: ProtectedScope, headers: Presented): Principal | Promise<Principal>;
  /** Returns a new credential of `form` for which identity has this result. */
  known(form: string, result: object): string;
  /** Returns the principal, or the error that the caller gets. */
  outcome(scope: ProtectedScope, headers: Presented): Promise<Principal | ApiError>;
  /** Returns `admitted`, or the status that the caller gets. */
  verdict(scope: ProtectedScope, headers: Presented): Promise<"admitted" | number>;
  /** Returns the reason why the credential is refused. */
  refusal(scope: ProtectedScope, headers: Presented): Promise<CredentialRefusal>;
  /** Returns the number of refusals so far, by reason. */
  counted(): Record<string, number>;
  start(): Promise<void>;
  close(): Promise<void>;
}

export function admission(environment: Record<string, string> = {}): Admission {
  const identity = startIdentity();
  const time = manualClock();
  const lines: string[] = [];
  const note = (fields: object, message: string) => lines.push(`${message} ${JSON.stringify(fields)}`);
  const authenticator = createAuthenticator({
    config: config({
      CREDENTIAL_VALIDATE_URL: identity.url,
      ADMISSION_CHANGES_WAIT_MS: "0",
      ...environment,
    }),
    log: { info: note, warn: note },
    clock: time,
  });
  const request = (headers: Presented) => new Request("http://gateway.example/things", { headers });
  const authenticate = (scope: ProtectedScope, headers: Presented) => {
    const presented = request(headers);
    return authenticator.authenticate(scope, presented, presented.headers.get("x-api-key"));
  };
  const outcome = async (scope: ProtectedScope, headers: Presented) => {
    try {
      return await authenticate(scope, headers);
    } catch (error) {
      if (error instanceof ApiError) return error;
      throw error;
    }
  };
  return {
    identity,
    time,
    lines,
    counted: () => ({ ...authenticator.refusals }),
    ready: () => authenticator.ready(),
    authenticate,
    known(form, result) {
      const text = credential(form);
      identity.results.set(text, result);
      return text;
    },
    outcome,
    async verdict(scope, headers) {
      const result = await outcome(scope, headers);
      return result instanceof ApiError ? result.status : "admitted";
    },
    async refusal(scope, headers) {
      const result = await outcome(scope, headers);
      if (result instanceof ApiError && result.cause instanceof CredentialRefusal) return result.cause;
      throw new Error("The credential was not refused.");
    },
    start: () => authenticator.start(),
    async close() {
      await authenticator.stop();
      await identity.stop();
    },
  };
}

export function config(environment: Record<string, string>): AdmissionConfig {
  return loadConfig(Type.Object(admissionVariables), {
    CREDENTIAL_VALIDATE_URL: NOWHERE,
    AUTH_ISSUER: ISSUER,
    ...environment,
  });
}

const SECRET_LENGTH = 43;
let made = 0;

/** Returns a new well-formed credential of `form`, such as `k-2`. */
export function credential(form: string): string {
  made += 1;
  return `acme-${form}-${`${made}_-Secret`.padEnd(SECRET_LENGTH, "x")}`;
}

export const key = (value: string) => ({ "x-api-key": value });
export const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
