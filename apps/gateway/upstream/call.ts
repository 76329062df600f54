import { ApiError } from "@ostiary/lib/domain/errors";

/** Why a call of a service was given up. */
export type StopReason = "client_gone" | "client_slow" | "timeout" | "idle" | "too_large";

/** The client left before it had an answer: nobody is there to be told anything. */
export class ClientGone extends Error {
  constructor() {
    super("The client left before it had an answer.");
    this.name = "ClientGone";
  }
}

/**
 * One call of a service: what ends it early, and its one timer. The timer runs only while the service is waited
 * for: never while the client is slow.
 */
export class UpstreamCall {
  /** The head of the response is there; the client may be sending still. */
  answered = false;
  readonly #controller = new AbortController();
  #timer: ReturnType<typeof setTimeout> | null = null;
  #reason: StopReason | null = null;

  constructor(client: AbortSignal) {
    if (client.aborted) this.stop("client_gone");
    else client.onabort = () => this.stop("client_gone");
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Gives the service `ms` for what is awaited next. */
  expectWithin(ms: number, reason: "timeout" | "idle"): void {
    this.settle();
    this.#timer = setTimeout(() => this.stop(reason), ms);
  }

  /** What was awaited has come. */
  settle(): void {
    if (this.#timer === null) return;
    clearTimeout(this.#timer);
    this.#timer = null;
  }

  /** Ends the call; the first reason stays. */
  stop(reason: StopReason): void {
    this.settle();
    this.#reason ??= reason;
    this.#controller.abort();
  }

  /** Ends a call that failed: what that means to the client. */
  failure(cause: unknown, body_bytes_max: number): ApiError | ClientGone {
    this.settle();
    this.#controller.abort();
    switch (this.#reason) {
      case "client_gone":
        return new ClientGone();
      case "client_slow":
        return bodyTimeout();
      case "too_large":
        return tooLarge(body_bytes_max);
      case "timeout":
        return badGateway("The service did not begin its response in time.");
      case "idle":
        return badGateway("The service paused too long within its response.");
      case null:
        if (cause instanceof ApiError) return cause;
        return badGateway(`The service could not be reached or broke off: ${faultCode(cause)}.`);
    }
  }
}

export function tooLarge(body_bytes_max: number): ApiError {
  return new ApiError("PAYLOAD_TOO_LARGE", { details: { max_size_bytes: body_bytes_max } });
}

/** The rest of the body may still come, and is not to be taken for a request. */
export function bodyTimeout(): ApiError {
  return new ApiError("REQUEST_TIMEOUT", { headers: { Connection: "close" } });
}

export function badGateway(reason: string): ApiError {
  return new ApiError("BAD_GATEWAY", { kind: "network", cause: new Error(reason) });
}

/** The runtime's messages hold the URL, and so the query: only their code may be logged. */
function faultCode(cause: unknown): string {
  if (cause instanceof Error && "code" in cause && typeof cause.code === "string") return cause.code;
  return cause instanceof Error ? cause.name : "unknown";
}
