import type { ApiError } from "../../domain/errors/index.ts";
import type { RequestTrace } from "../telemetry/request-trace.ts";

export interface RequestContext {
  /** The request's X-Request-ID, or a new id if the request has no valid X-Request-ID (ER-5). */
  readonly request_id: string;
  readonly trace: RequestTrace | null;
  route: string | null;
  /** Handlers set each value when it is known. */
  subject: {
    user_id?: string;
    organization_id?: string;
    member_id?: string;
    operator?: string;
    operator_subject?: string;
    change_reason?: string;
    change_link?: string;
  };
  /** Why the request was refused or failed, or null. */
  error: ApiError | null;
}

const contexts = new WeakMap<Request, RequestContext>();

export function setContext(request: Request, context: RequestContext): void {
  contexts.set(request, context);
}

export function contextOf(request: Request): RequestContext {
  const context = contexts.get(request);
  if (!context) throw new Error("The request did not enter through the service's handler.");
  return context;
}
