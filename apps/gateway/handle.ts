import { systemClock } from "@ostiary/lib/async";
import { type ApiError, notFound } from "@ostiary/lib/domain/errors";
import type { RouteTable } from "@ostiary/lib/domain/routes";
import { toApiError } from "@ostiary/lib/runtime/http";
import type { ClientConnections } from "./edge/client-connections.ts";
import type { Overload } from "./edge/overload.ts";
import type { RequestLog } from "./edge/request-log.ts";
import type { RequestTargets } from "./edge/request-target.ts";
import type { Shares } from "./edge/shares.ts";
import type { Exchange } from "./exchange.ts";
import type { AuditEvents } from "./steps/audit-event.ts";
import type { Authenticator } from "./steps/authenticate.ts";
import { authorize } from "./steps/authorize.ts";
import type { Forwarder } from "./steps/forward.ts";
import { isRefunded, type Limiter, refusedByLimit } from "./steps/limit.ts";
import type { Responder } from "./steps/respond.ts";
import { rewrite } from "./steps/rewrite.ts";
import { ClientGone } from "./upstream/call.ts";
import { WebSockets } from "./upstream/websocket.ts";
import type { UsageRecorder } from "./usage/usage-recorder.ts";

export interface Steps {
  readonly overload: Pick<Overload, "admit" | "isCrowded">;
  readonly shares: Shares;
  readonly connections: ClientConnections;
  readonly targets: RequestTargets;
  readonly routes: { readonly table: RouteTable };
  readonly authenticator: Authenticator;
  readonly limiter: Limiter;
  readonly audit: AuditEvents;
  readonly forwarder: Forwarder;
  readonly websockets: WebSockets;
  readonly responder: Responder;
  readonly usage: Pick<UsageRecorder, "count">;
  readonly log: RequestLog;
}

/**
 * Handles a request (GW-1). Load, target and preflight checks precede the nine steps of ARCHITECTURE.md. The gateway
 * counts the request before it checks the labels, so that a 403 counts towards the limit. The gateway records the
 * intent before the call to the service, so that every audited call is recorded. One async function contains all
 * steps, because each extra `await` adds cost to every request.
 */
export async function handle(exchange: Exchange, steps: Steps): Promise<Response | undefined> {
  const { request } = exchange;
  steps.connections.hold(exchange);
  try {
    steps.overload.admit(exchange.server);
    const target = steps.targets.read(request);
    if (request.method === "OPTIONS")
      return finishWith(exchange, steps, steps.responder.preflight(exchange), null);
    exchange.match = steps.routes.table.match(request.method, target.path);
    if (exchange.match === null) throw notFound();
    const { route } = exchange;
    if (route.scope !== "public") {
      exchange.knownChanges = steps.authenticator.knownChanges;
      const admitted = steps.authenticator.authenticate(route.scope, request, exchange.credential);
      exchange.principal = admitted instanceof Promise ? await admitted : admitted;
    }
    if (steps.overload.isCrowded) steps.shares.claim(exchange);
    const limited = steps.limiter.limit(route, exchange);
    if (limited !== null) {
      exchange.rate = await limited;
      if (!exchange.rate.allowed) throw refusedByLimit(route, exchange.rate);
    }
    if (steps.audit.covers(exchange)) await steps.audit.intent(exchange);
    authorize(route, exchange.principal);
    const path = rewrite(exchange.match, target, exchange.principal);
    if (WebSockets.requested(request)) return await tunnel(exchange, steps, path);
    const head = await steps.forwarder.send(exchange, path);
    const received = steps.forwarder.receive(exchange, head, (failure) => {
      finish(exchange, steps, head.status, failure);
    });
    const relayed = received instanceof Promise ? await received : received;
    steps.audit.responded(exchange, relayed);
    const response = steps.responder.respond(exchange, relayed);
    return relayed.body instanceof ReadableStream ? response : finishWith(exchange, steps, response, null);
  } catch (thrown) {
    return refuse(exchange, steps, steps.forwarder.failure(exchange, thrown));
  }
}

/** Returns the error response for a request that was refused, or whose service sent no complete response. */
async function refuse(exchange: Exchange, steps: Steps, failure: unknown): Promise<Response> {
  if (failure instanceof ClientGone) {
    steps.audit.abandoned(exchange);
    finish(exchange, steps, null, null);
    return new Response(null); // nobody reads it
  }
  const error = toApiError(failure);
  steps.audit.failed(exchange, error);
  const sent = (await denial(exchange, steps, error)) ?? error;
  return finishWith(exchange, steps, steps.responder.refuse(exchange, sent), sent);
}

/**
 * Counts a 401 or an unmatched 404 for the client's address. Returns the 429 if the address has too many,
 * else null.
 */
function denial(exchange: Exchange, steps: Steps, error: ApiError): Promise<ApiError | null> | null {
  const counts = error.status === 401 || (error.status === 404 && exchange.match === null);
  return counts ? steps.limiter.failed(exchange.ip, error.cause) : null;
}

/**
 * Carries out steps 7 to 9 of a request for a WebSocket. The upgrade is the response. The request finishes
 * when the connections to the client and the service are closed.
 */
async function tunnel(exchange: Exchange, steps: Steps, path: string): Promise<undefined> {
  await steps.websockets.open(exchange, path, (failure) => {
    finish(exchange, steps, SWITCHING_PROTOCOLS, failure);
  });
  steps.audit.responded(exchange, { status: SWITCHING_PROTOCOLS, fields: [] });
}

const SWITCHING_PROTOCOLS = 101;

function finishWith(exchange: Exchange, steps: Steps, response: Response, failure: Error | null): Response {
  finish(exchange, steps, response.status, failure);
  return response;
}

/**
 * Finishes a request. Called once for each request. Afterwards, only the runtime still writes response bytes.
 *
 * @param status the status of the response, or null if the client left before the response
 */
function finish(exchange: Exchange, steps: Steps, status: number | null, failure: Error | null): void {
  steps.connections.release(exchange);
  if (exchange.isShared) steps.shares.release(exchange);
  if (exchange.rate !== null && isRefunded(exchange, status)) steps.limiter.refund(exchange.rate);
  const duration_ms = systemClock.elapsedMs() - exchange.started;
  if (exchange.principal !== null) steps.usage.count(exchange, status, failure, duration_ms);
  steps.log.finish(exchange, status, failure, duration_ms);
}
