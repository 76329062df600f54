import {
  DirectoryResult,
  InvalidResult,
  type ValidationRequest,
  ValidationResult,
} from "@ostiary/lib/contracts/admission";
import { internalCallHeaders } from "@ostiary/lib/contracts/internal-api";
import { type ErrorKind, unavailable } from "@ostiary/lib/domain/errors";
import { parseJson } from "@ostiary/lib/domain/json";
import { peerTls } from "@ostiary/lib/runtime/config";
import type { Tracing } from "@ostiary/lib/runtime/telemetry";
import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { TypeCompiler } from "@sinclair/typebox/compiler";
import { boundedCall, CallFailed } from "../upstream/bounded-call.ts";
import type { AdmissionConfig } from "./config.ts";
import type { ValidationDurations, ValidationEnd, ValidationKind } from "./validation-durations.ts";

/** A person is never answered with a membership of an organization. */
const PersonResult = Type.Union([DirectoryResult, InvalidResult]);
export type PersonResult = Static<typeof PersonResult>;

/**
 * Asks identity who a caller is (contract 4, Admission). Anything but 200 and a well-formed body is 503: the
 * service can not tell, and the result must not be kept.
 */
export interface ValidationClient {
  person(issuer: string, subject: string): Promise<PersonResult>;
  credential(credential: string): Promise<ValidationResult>;
}

type ValidationConfig = Pick<
  AdmissionConfig,
  | "CREDENTIAL_VALIDATE_URL"
  | "INTERNAL_AUTH_TOKEN"
  | "VALIDATE_TIMEOUT_MS"
  | `CREDENTIAL_VALIDATE_${"CA" | "CERT" | "KEY"}_FILE`
>;

/** Where validations are told of. */
export interface ValidationSignals {
  readonly durations?: Pick<ValidationDurations, "observe">;
  readonly tracing?: Pick<Tracing, "call">;
}

export function createValidationClient(
  config: ValidationConfig,
  { durations, tracing }: ValidationSignals = {},
): ValidationClient {
  const readPerson = reader(PersonResult);
  const readCredential = reader(ValidationResult);
  const headers = internalCallHeaders(config.INTERNAL_AUTH_TOKEN);
  const tls = peerTls(config, "CREDENTIAL_VALIDATE");

  async function ask(question: ValidationRequest): Promise<string> {
    const answer = await boundedCall({
      method: "POST",
      url: config.CREDENTIAL_VALIDATE_URL,
      headers,
      body: JSON.stringify(question),
      timeout_ms: config.VALIDATE_TIMEOUT_MS,
      repeatable: true,
      tls,
      tracing,
    }).catch(unreachable);
    if (answer.status !== 200) throw validationDown("auth", `answered ${answer.status}`);
    return answer.text;
  }

  async function timed<Result extends { valid: boolean }>(
    kind: ValidationKind,
    question: ValidationRequest,
    read: (text: string) => Result,
  ): Promise<Result> {
    const started = performance.now();
    let end: ValidationEnd = "failed";
    try {
      const result = read(await ask(question));
      end = result.valid ? "valid" : "invalid";
      return result;
    } finally {
      durations?.observe(kind, end, (performance.now() - started) / 1000);
    }
  }

  return {
    person: (issuer, subject) => timed("person", { idp: { issuer, subject } }, readPerson),
    credential: (credential) => timed("credential", { credential }, readCredential),
  };
}

/** Reads an answer of the shape of `schema`, which is compiled here, once. */
function reader<Schema extends TSchema>(schema: Schema): (text: string) => Static<Schema> {
  const check = TypeCompiler.Compile(schema);
  return (text) => {
    const answer = parse(text);
    if (!check.Check(answer)) throw validationDown("auth", "answered in a shape that is not the contract's");
    return answer;
  };
}

function parse(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    throw validationDown("auth", "answered something that is not JSON, or is nested too deeply");
  }
}

function unreachable(error: unknown): never {
  throw error instanceof CallFailed ? validationDown("network", `did not answer: ${error.message}`) : error;
}

/** The 503 of a request whose caller could not be proved; the reason is for the log. */
export function validationDown(kind: ErrorKind, reason: string) {
  return unavailable(kind, new Error(`Credential validation ${reason}.`));
}
