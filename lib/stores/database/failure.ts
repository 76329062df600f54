import { StoreUnavailable } from "../errors.ts";
import { NoPermit } from "./permits.ts";
import { sqlState } from "./sql-state.ts";

/**
 * SQLSTATE classes and codes by which a server says that it cannot serve now: connection exceptions (08),
 * authorization (28), resources (53), operator intervention and statement timeouts (57), system errors (58),
 * an unknown database, a standby, an ended idle transaction, a role without the right to connect.
 */
const refusals = ["08", "28", "53", "57", "58", "3D000", "25006", "25P03"];

/** After these the connection is gone or about to go: shut-down, crash, start-up, idle transaction ended. */
const endings = ["08", "57P", "25P03"];

/** Codes of errors raised by the driver or the runtime, not by the server. */
const connectionCode = /^(E[A-Z_]+|CONNECT_TIMEOUT|CONNECTION_[A-Z]+|SASL_[A-Z_]+|ERR_TLS\w*|\w*CERT\w*)$/;

/** The server stayed silent during a statement for longer than the adapter waits. */
export class Silence extends Error {
  constructor(silence_ms: number) {
    super(`The server did not answer a statement within ${silence_ms} ms.`);
    this.name = "Silence";
  }
}

/** `StoreUnavailable` for what the database's absence causes, the error itself for anything else. */
export function databaseFailure(error: unknown): unknown {
  const known = findCause(error, (cause) => cause instanceof StoreUnavailable);
  if (known !== undefined) return known;
  if (isRefusal(error) || isConnectionLost(error)) return new StoreUnavailable("database", error);
  return error;
}

/** Whether the connection that reported `error` can no longer be trusted. */
export function isConnectionLost(error: unknown): boolean {
  const state = sqlState(error);
  if (state !== undefined) return endings.some((ending) => state.startsWith(ending));
  return findCause(error, (cause) => cause instanceof Silence || hasConnectionCode(cause)) !== undefined;
}

function isRefusal(error: unknown): boolean {
  const state = sqlState(error);
  if (state !== undefined) return refusals.some((refusal) => state.startsWith(refusal));
  return findCause(error, (cause) => cause instanceof NoPermit) !== undefined;
}

function hasConnectionCode(error: Error): boolean {
  return "code" in error && typeof error.code === "string" && connectionCode.test(error.code);
}

const WRAPPINGS_MAX = 8;

function findCause(error: unknown, accept: (cause: Error) => boolean): Error | undefined {
  let candidate = error;
  for (let depth = 0; depth < WRAPPINGS_MAX && candidate instanceof Error; depth++) {
    if (accept(candidate)) return candidate;
    candidate = candidate.cause;
  }
  return undefined;
}
