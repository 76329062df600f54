import { systemErrorCode } from "@ostiary/lib/domain/errors";

/** The names in messages to the person at the terminal. */
export interface MessageNames {
  /** The command that the person typed, such as `bun cli`. */
  program: string;
  /** The setting that holds the registry's address. */
  url: string;
  /** The setting that holds the token. */
  token: string;
}

/** A request to the registry that got no response. */
interface FailedCall {
  names: MessageNames;
  timeoutS: number;
  /** Whether the request was a write. */
  writing: boolean;
}

/** Errors that occur before the request is sent, so nothing was written. */
const NOT_SENT = /^(ECONNREFUSED|ENOTFOUND|EAI_\w+|EHOSTUNREACH|ENETUNREACH|EPROTO|ERR_TLS\w*|\w*CERT\w*)$/;

/** Says that a write without a response may have taken effect, and how to check. */
export function mayHaveTakenEffect(program: string): string {
  return `The command may still have taken effect: check with ${program} services.`;
}

/** Explains why `url` did not respond, and what to do. */
export function unreachableText(url: string, error: unknown, call: FailedCall): string {
  const code = codeOf(error);
  const reason = reasonText(url, code, error, call);
  if (!call.writing || NOT_SENT.test(code)) return reason;
  return `${reason}\n${mayHaveTakenEffect(call.names.program)}`;
}

/** Says that the registry could not use one of its stores, and which line of its log says why. */
export function unavailableText(
  message: string,
  request_id: string,
  { names, writing }: Pick<FailedCall, "names" | "writing">,
): string {
  const reason = `${message} The registry's log has the cause under request_id ${request_id}.`;
  return writing ? `${reason}\n${mayHaveTakenEffect(names.program)}` : reason;
}

function reasonText(url: string, code: string, error: unknown, { names, timeoutS }: FailedCall): string {
  if (error instanceof Error && error.name === "TimeoutError") {
    return `${url} did not respond within ${timeoutS} s: is ${names.url} the registry's address? A larger --timeout waits longer.`;
  }
  if (code === "ECONNRESET") {
    const scheme = url.startsWith("http://") ? ", or should it start with https://" : "";
    return `${url} closed the connection without a response: is ${names.url} the registry's address${scheme}?`;
  }
  if (code === "EPROTO") return `${url} does not speak TLS: should ${names.url} start with http://?`;
  if (/CERT|ERR_TLS/.test(code)) {
    return `The certificate of ${url} is not trusted (${code}): set NODE_EXTRA_CA_CERTS to the file of its certificate authority.`;
  }
  if (code === "Malformed_HTTP_Response") {
    return `${url} does not respond in HTTP: ${names.url} must be the address of the registry's admin API.`;
  }
  return `The registry at ${url} cannot be reached (${code}): is it running, and is ${names.url} its address?`;
}

function codeOf(error: unknown): string {
  return systemErrorCode(error) ?? (error instanceof Error ? error.message : "unknown reason");
}
