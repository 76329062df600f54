import type { ApiError } from "../../domain/errors/index.ts";
import type { RequestTrace } from "../telemetry/request-trace.ts";

/** The data that a service keeps about one request. */
export interface RequestContext {
  /** The request's X-Request-ID, or a new id if the request has no valid X-Request-ID (ER-5). */
  readonly request_id: string;
  readonly trace: RequestTrace | null;
  /** The template of the matched route, or null if no route has matched yet. */
  route: string | null;
  /** The ids and names for the log line. Handlers set each value when the value is known. */
  subject: {
    user_id?: string;
    organization_id?: string;
    member_id?: string;
    operator?: string;
    operator_subject?: string;
    change_reason?: string;
    change_link?: string;
  };
  /** The error with which the request was refused or failed, or null. */
  error: ApiError | null;
}

const contexts = new WeakMap<Request, RequestContext>();

/** Stores `context` for the lifetime of `request`. */
export function setContext(request: Request, context: RequestContext): void {
  contexts.set(request, context);
}

/** Returns the context that {@link setContext} stored for a request. */
export function contextOf(request: Request): RequestContext {
  const context = contexts.get(request);
  if (!context) throw new Error("The request did not enter through the service's handler.");
  return context;
}
