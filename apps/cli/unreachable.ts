import { systemErrorCode } from "@ostiary/lib/domain/errors";

/** A request to the registry that got no response. */
interface FailedCall {
  timeoutS: number;
  /** Whether the request was a write. */
  writing: boolean;
}

/** Errors that occur before the request is sent, so nothing was written. */
const NOT_SENT = /^(ECONNREFUSED|ENOTFOUND|EAI_\w+|EHOSTUNREACH|ENETUNREACH|EPROTO|ERR_TLS\w*|\w*CERT\w*)$/;

const MAY_HAVE_TAKEN_EFFECT = "The command may still have taken effect: check with bun cli services.";

/** Explains why `url` did not respond, and what to do. */
export function unreachableText(url: string, error: unknown, call: FailedCall): string {
  const code = codeOf(error);
  const reason = reasonText(url, code, error, call.timeoutS);
  if (!call.writing || NOT_SENT.test(code)) return reason;
  return `${reason}\n${MAY_HAVE_TAKEN_EFFECT}`;
}

/** Says that the registry could not use one of its stores, and which line of its log says why. */
export function unavailableText(message: string, request_id: string, writing: boolean): string {
  const reason = `${message} The registry's log has the cause under request_id ${request_id}.`;
  return writing ? `${reason}\n${MAY_HAVE_TAKEN_EFFECT}` : reason;
}

function reasonText(url: string, code: string, error: unknown, timeoutS: number): string {
  if (error instanceof Error && error.name === "TimeoutError") {
    return `${url} did not respond within ${timeoutS} s: is REGISTRY_URL the registry's address? A larger --timeout waits longer.`;
  }
  if (code === "ECONNRESET") {
    const scheme = url.startsWith("http://") ? ", or should it start with https://" : "";
    return `${url} closed the connection without a response: is REGISTRY_URL the registry's address${scheme}?`;
  }
  if (code === "EPROTO") return `${url} does not speak TLS: should REGISTRY_URL start with http://?`;
  if (/CERT|ERR_TLS/.test(code)) {
    return `The certificate of ${url} is not trusted (${code}): set NODE_EXTRA_CA_CERTS to the file of its certificate authority.`;
  }
  if (code === "Malformed_HTTP_Response") {
    return `${url} does not respond in HTTP: REGISTRY_URL must be the address of the registry's admin API.`;
  }
  return `The registry at ${url} cannot be reached (${code}): is it running, and is REGISTRY_URL its address?`;
}

function codeOf(error: unknown): string {
  return systemErrorCode(error) ?? (error instanceof Error ? error.message : "unknown reason");
}
