import { type Clock, systemClock } from "@ostiary/lib/async";
import {
  DirectoryResult,
  InvalidResult,
  type ValidationRequest,
  ValidationResult,
} from "@ostiary/lib/contracts/admission";
import { internalCallHeaders } from "@ostiary/lib/contracts/internal-api";
import { type ErrorKind, unavailable } from "@ostiary/lib/domain/errors";
import { tryJson } from "@ostiary/lib/domain/json";
import { boundedCall, CallFailed } from "@ostiary/lib/runtime/bounded-call";
import { peerTls } from "@ostiary/lib/runtime/config";
import type { Tracing } from "@ostiary/lib/runtime/telemetry";
import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { TypeCompiler } from "@sinclair/typebox/compiler";
import { peerClient } from "../upstream/peer-client.ts";
import type { AdmissionConfig } from "./config.ts";
import type { ValidationDurations, ValidationEnd, ValidationKind } from "./validation-durations.ts";

/** The validation result for a person. The result never names an organization or a member. */
const PersonResult = Type.Union([DirectoryResult, InvalidResult]);

export type ValidationClient = ReturnType<typeof createValidationClient>;

type ValidationConfig = Pick<
  AdmissionConfig,
  | "CREDENTIAL_VALIDATE_URL"
  | "INTERNAL_AUTH_TOKEN"
  | "VALIDATE_TIMEOUT_MS"
  | `CREDENTIAL_VALIDATE_${"CA" | "CERT" | "KEY"}_FILE`
>;

export interface ValidationSignals {
  readonly durations?: Pick<ValidationDurations, "observe">;
  readonly tracing?: Pick<Tracing, "call">;
}

/**
 * The client for identity's validation of callers (GW-55). Any response other than a 200 with a valid body
 * becomes a 503 and is not cached.
 */
export function createValidationClient(
  config: ValidationConfig,
  { durations, tracing }: ValidationSignals = {},
  clock?: Clock,
) {
  const readPerson = reader(PersonResult);
  const readCredential = reader(ValidationResult);
  const headers = internalCallHeaders(config.INTERNAL_AUTH_TOKEN);
  const tls = peerTls(config, "CREDENTIAL_VALIDATE");
  const transport = peerClient(config.CREDENTIAL_VALIDATE_URL);

  async function send(request: ValidationRequest): Promise<string> {
    const call = {
      method: "POST",
      url: config.CREDENTIAL_VALIDATE_URL,
      headers,
      body: JSON.stringify(request),
      timeoutMs: config.VALIDATE_TIMEOUT_MS,
      clock,
      repeatable: true,
      tls,
      tracing,
    } as const;
    const response = await boundedCall(call, transport).catch(unreachable);
    if (response.status !== 200) throw validationDown("auth", `responded with ${response.status}`);
    return response.text;
  }

  async function timed<Result extends { valid: boolean }>(
    kind: ValidationKind,
    request: ValidationRequest,
    read: (text: string) => Result,
  ): Promise<Result> {
    const stopwatch = clock ?? systemClock;
    const started = stopwatch.elapsedMs();
    let end: ValidationEnd = "failed";
    try {
      const result = read(await send(request));
      end = result.valid ? "valid" : "invalid";
      return result;
    } finally {
      durations?.observe(kind, end, (stopwatch.elapsedMs() - started) / 1000);
    }
  }

  return {
    person: (issuer: string, subject: string) => timed("person", { idp: { issuer, subject } }, readPerson),
    credential: (credential: string) => timed("credential", { credential }, readCredential),
    close: () => transport.close(),
  };
}

const NOT_JSON = "sent a body that is not JSON, or is nested too deeply";

/** Returns a function that parses and checks response bodies with `schema`, which is compiled once. */
function reader<Schema extends TSchema>(schema: Schema): (text: string) => Static<Schema> {
  const check = TypeCompiler.Compile(schema);
  return (text) => {
    const response = tryJson(text);
    if (response === undefined) throw validationDown("auth", NOT_JSON);
    if (!check.Check(response)) throw validationDown("auth", "sent a body that does not match the schema");
    return response;
  };
}

function unreachable(error: unknown): never {
  throw error instanceof CallFailed ? validationDown("network", `did not respond: ${error.message}`) : error;
}

/** Returns the 503 for a request whose caller could not be validated. The reason is logged, not sent. */
export function validationDown(kind: ErrorKind, reason: string) {
  return unavailable(kind, new Error(`Credential validation failed: identity ${reason}.`));
}
