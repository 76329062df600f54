import type { Attributes } from "@opentelemetry/api";
import type { StoreOperation } from "../stores/observer.ts";

/** OpenTelemetry's methods. Another one is reported as `_OTHER`, with its original name. */
const METHODS: ReadonlySet<string> = new Set(
  "CONNECT DELETE GET HEAD OPTIONS PATCH POST PUT TRACE QUERY".split(" "),
);

export function methodAttributes(method: string): Attributes {
  if (METHODS.has(method)) return { "http.request.method": method };
  return { "http.request.method": "_OTHER", "http.request.method_original": method };
}

/** The attributes have no query string, which can contain secrets. */
export function serverAttributes(request: Request, clientAddress: string | null): Attributes {
  const user_agent = request.headers.get("user-agent");
  return {
    ...addressAttributes(request.url),
    ...(user_agent !== null && { "user_agent.original": user_agent }),
    ...(clientAddress !== null && { "client.address": clientAddress }),
  };
}

function addressAttributes(text: string): Attributes {
  const url = URL.parse(text);
  if (url === null) return {};
  return { "url.scheme": url.protocol.slice(0, -1), "url.path": url.pathname, ...serverOf(url) };
}

/** The URL has neither credentials nor a query string. */
export function clientAttributes(method: string, text: string): Attributes {
  const url = URL.parse(text);
  if (url === null) return methodAttributes(method);
  return { ...methodAttributes(method), "url.full": `${url.origin}${url.pathname}`, ...serverOf(url) };
}

function serverOf({ hostname, port, protocol }: URL): Attributes {
  const fallback = protocol === "https:" || protocol === "wss:" ? 443 : 80;
  return { "server.address": hostname, "server.port": port === "" ? fallback : Number(port) };
}

export function storeAttributes({
  system,
  operation,
  namespace,
  failed,
  errorType,
}: StoreOperation): Attributes {
  return {
    "db.system.name": system,
    "db.operation.name": operation,
    "db.namespace": namespace,
    ...(failed && { "error.type": errorType ?? "_OTHER" }),
  };
}
