import {
  type HttpResponse,
  NearestRoute,
  pathOf,
  RegistryApi,
  type TokenSource,
} from "@ostiary/lib/contracts/registry-api";
import { RouteConflict, reasonOf } from "@ostiary/lib/domain/errors";
import { OutOfBounds } from "@ostiary/lib/domain/routes";
import {
  entriesOf,
  type Failure,
  type FailureKind,
  failed,
  failureOf,
  type Result,
  succeeded,
} from "@ostiary/lib/page/failure";

export type Send = (address: string, request: RequestInit) => Promise<Response>;

const TIMEOUT_MS = 30_000;

/** The exception that carries a failure from a call to {@link resultOf}. */
export class FailedCall extends Error {
  readonly failure: Failure;

  constructor(kind: FailureKind, known: Partial<Failure>) {
    super(known.message);
    this.failure = failed(kind, known).failure;
  }
}

/** Runs calls of the registry, and returns their result or the failure. */
export async function resultOf<Value>(work: () => Promise<Value>): Promise<Result<Value>> {
  try {
    return succeeded(await work());
  } catch (thrown) {
    if (thrown instanceof FailedCall) return { ok: false, failure: thrown.failure };
    return failed("unexpected", { message: `The console failed: ${reasonOf(thrown)}` });
  }
}

export class Registry extends RegistryApi {
  readonly #fetch: Send;

  /** @throws FailedCall when the token is not visible ASCII */
  constructor(token: string | TokenSource, send: Send = (address, request) => fetch(address, request)) {
    if (typeof token === "string" && !/^[\x21-\x7e]+$/.test(token)) {
      const message = "A token consists of visible ASCII characters without spaces.";
      throw new FailedCall("signed_out", { message });
    }
    super(token, TIMEOUT_MS);
    this.#fetch = send;
  }

  protected async send(path: string, request: RequestInit, writing: boolean): Promise<HttpResponse> {
    try {
      const response = await this.#fetch(path, {
        ...request,
        cache: "no-store",
        credentials: "omit",
        redirect: "error",
      });
      const { ok, status, headers } = response;
      return { ok, status, headers, body: await response.text() };
    } catch {
      throw new FailedCall("unavailable", { outcomeUnknown: writing });
    }
  }

  protected failure(response: HttpResponse, value: unknown, writing: boolean): FailedCall {
    const { failure } = failureOf(response, value, writing);
    return new FailedCall(failure.kind, failure);
  }
}

/** Returns a path with its segments escaped: `pathTo("services", name)`. */
export function pathTo(...segments: (string | number)[]): string {
  return pathOf(segments, () => new FailedCall("missing", { message: "No service has this name." }));
}

export const conflictsOf = ({ details }: Failure) => entriesOf(details, "conflicts", RouteConflict);
export const missingOf = ({ details }: Failure) => entriesOf(details, "missing", OutOfBounds);
export const nearestOf = ({ details }: Failure) => entriesOf(details, "nearest", NearestRoute);

/** Returns whether a write was refused because another write came first. */
export function isStale({ code }: Failure): boolean {
  return code === "PRECONDITION_FAILED";
}

/** Returns the text of a failure, also where the registry has sent none. */
export function messageOf({ kind, message, status }: Failure): string {
  if (message !== "") return message;
  if (kind === "unavailable") return "The registry does not respond.";
  return `The response is not from a registry of this version (status ${status}).`;
}
