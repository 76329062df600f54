import { standInFor } from "../during-tests.ts";
import { OK, type RawHeaders, RawUpstream, rawRequest, spell } from "../http/raw-http.ts";
import { type LocalGateway, publicService, startLocalGateway } from "./gateway.ts";

export type Lines = [name: string, value: string][];

export const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/**
 * A service with the route `/widgets` behind gateways. It shows which headers gateways pass on in each
 * direction.
 */
export class WidgetsBed {
  readonly service = new RawUpstream();
  readonly #gateways: LocalGateway[] = [];
  readonly gateway = standInFor(() => this.#gateways[0]);

  async start(env: Record<string, string> = {}): Promise<LocalGateway> {
    const gateway = await startLocalGateway(env);
    this.#gateways.push(gateway);
    await gateway.publish({
      widgets: publicService(this.service.url, {
        path: "/widgets",
        methods: ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"],
      }),
    });
    return gateway;
  }

  /** Sends a GET request with these headers and returns the headers that the service receives. */
  async received(lines: Lines, through: LocalGateway): Promise<RawHeaders> {
    await rawRequest(through.url, spell("GET", "/widgets", lines));
    return this.service.request.headers;
  }

  /**
   * Sends a GET request, to which the service responds with these headers. Returns the client's response
   * headers.
   */
  async responseHeaders(lines: Lines, through: LocalGateway, request: Lines = []): Promise<RawHeaders> {
    const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join("");
    this.service.handler = () => `HTTP/1.1 200 OK\r\n${head}Content-Length: 2\r\n\r\nok`;
    return (await rawRequest(through.url, spell("GET", "/widgets", request))).headers;
  }

  reset(): void {
    this.service.requests.length = 0;
    this.service.handler = () => OK;
  }

  async close(): Promise<void> {
    await Promise.all(this.#gateways.map((gateway) => gateway.close()));
    this.service.close();
  }
}
