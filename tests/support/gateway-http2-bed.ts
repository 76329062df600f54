import { afterAll, beforeAll, beforeEach } from "bun:test";
import { type LocalGateway, publicService, startLocalGateway } from "./gateway.ts";
import { OK, type RawHeaders, RawUpstream } from "./raw-http.ts";
import {
  dataFrames,
  END_STREAM,
  headersFrames,
  type RawHttp2Client,
  type RequestSpelling,
  requestFields,
  type StreamEnd,
} from "./raw-http2.ts";

/** A request to smuggle inside of the body or a header field of another request. */
export const HIDDEN = "GET /hidden HTTP/1.1\r\nHost: gateway.test\r\n\r\n";
/** The length of a body that is so large that the gateway streams the body to the service. */
export const STREAMED_BYTES = 70_000;

/** Starts a gateway that accepts HTTP/2, and a service behind the gateway, for all tests of a file. */
export function useHttp2Gateway() {
  let gateway: LocalGateway | undefined;
  const service = new RawUpstream();
  beforeAll(async () => {
    gateway = await startLocalGateway({ HTTP2_ENABLED: "true", HTTP2_CLEARTEXT: "true" });
    await gateway.publish({
      widgets: publicService(
        service.url,
        { path: "/widgets", methods: ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"] },
        { path: "/hidden", methods: ["GET", "POST"] },
      ),
    });
  });
  afterAll(async () => {
    await gateway?.close();
    service.close();
  });
  beforeEach(() => {
    service.requests.length = 0;
    service.handler = () => OK;
  });
  return {
    service,
    get url() {
      return gateway?.url ?? "";
    },
  };
}

export interface Attack {
  /** All header fields. By default, they are those of `GET /widgets` with the changes in `spelling`. */
  readonly fields?: RawHeaders;
  readonly spelling?: RequestSpelling;
  /** The parts of the body. The client sends each part once the server has read the previous part. */
  readonly bodies?: readonly string[];
  readonly trailers?: RawHeaders;
}

export const attacked = (fields: RawHeaders): Attack => ({ spelling: { fields } });
export const posted = (fields: RawHeaders, ...bodies: string[]): Attack => ({
  spelling: { method: "POST", fields },
  bodies,
});
export const without = (name: string, ...more: RawHeaders): Attack => ({
  fields: [...requestFields().filter(([each]) => each !== name), ...more],
});
export const beside = (...first: RawHeaders): Attack => ({ fields: [...first, ...requestFields()] });

/** Sends an attack as the first stream of a connection and returns the end of the stream. */
export async function send(client: RawHttp2Client, attack: Attack): Promise<StreamEnd> {
  const { fields = requestFields(attack.spelling), bodies, trailers } = attack;
  client.send(headersFrames(1, fields, bodies === undefined ? END_STREAM : 0));
  for (const [index, body] of (bodies ?? []).entries()) {
    await client.synced();
    const isLast = index === (bodies?.length ?? 0) - 1 && trailers === undefined;
    client.send(dataFrames(1, body, isLast));
  }
  if (trailers !== undefined) client.send(headersFrames(1, trailers));
  return client.end(1);
}
