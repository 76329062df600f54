import type { ApiError } from "../../domain/errors/index.ts";
import type { RequestTrace } from "../telemetry/request-trace.ts";

/** What a service knows of one request beside the request itself. */
export interface RequestContext {
  /** The incoming X-Request-ID, else a new one (contract 2). */
  readonly request_id: string;
  readonly trace: RequestTrace | null;
  /** The route template that matched; null until one has. */
  route: string | null;
  /** Ids for the log line, set by handlers when known. */
  subject: { user_id?: string; organization_id?: string; member_id?: string };
  /** What the request was refused with or failed on; null unless it was. */
  error: ApiError | null;
}

const contexts = new WeakMap<Request, RequestContext>();

/** Remembers `context` for as long as `request` lives. */
export function setContext(request: Request, context: RequestContext): void {
  contexts.set(request, context);
}

/** The context of a request that entered through {@link setContext}. */
export function contextOf(request: Request): RequestContext {
  const context = contexts.get(request);
  if (!context) throw new Error("The request did not enter through the service's handler.");
  return context;
}
