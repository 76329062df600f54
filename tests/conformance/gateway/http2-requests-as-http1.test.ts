import { describe, expect, test } from "bun:test";
import {
  type Attack,
  attacked,
  HIDDEN,
  posted,
  STREAMED_BYTES,
  send,
  useHttp2Gateway,
  without,
} from "../../support/gateway-http2-bed.ts";
import { headerValue, headerValues, type RawHeaders } from "../../support/raw-http.ts";
import { RawHttp2Client } from "../../support/raw-http2.ts";

const gateway = useHttp2Gateway();
const { service } = gateway;

describe("a well-formed HTTP/2 request reaches the service as one HTTP/1.1 request:", () => {
  const request = async (attack: Attack) => {
    const client = await RawHttp2Client.connect(gateway.url);
    const end = await send(client, attack);
    client.destroy();
    expect({ status: end.status, complete: end.complete }).toEqual({ status: 200, complete: true });
    return service.request;
  };

  test("a body of known length keeps its Content-Length", async () => {
    const got = await request(posted([["content-length", "3"]], "a", "bc"));
    expect([got.start, got.body.toString()]).toEqual(["POST /widgets HTTP/1.1", "abc"]);
    expect(headerValue(got.headers, "content-length")).toBe("3");
    expect(headerValues(got.headers, "transfer-encoding")).toEqual([]);
  });

  test("a body of unknown length is sent with chunked coding", async () => {
    const got = await request(posted([], "a", "bc"));
    expect(got.body.toString()).toBe("abc");
    expect(headerValue(got.headers, "transfer-encoding")).toBe("chunked");
    expect(headerValues(got.headers, "content-length")).toEqual([]);
  });

  test("chunk syntax in a body is not interpreted", async () => {
    const got = await request(posted([], `0\r\n\r\n${HIDDEN}`));
    expect(got.body.toString()).toBe(`0\r\n\r\n${HIDDEN}`);
  });

  test("a streamed body arrives completely", async () => {
    const body = "x".repeat(STREAMED_BYTES);
    const got = await request(posted([["content-length", String(STREAMED_BYTES)]], body));
    expect(got.body.length).toBe(STREAMED_BYTES);
    expect(headerValue(got.headers, "content-length")).toBe(String(STREAMED_BYTES));
  });

  test("a POST without a body has Content-Length 0", async () => {
    const got = await request({ spelling: { method: "POST" } });
    expect(headerValue(got.headers, "content-length")).toBe("0");
  });

  test("several cookie fields become one header", async () => {
    const cookies: RawHeaders = [
      ["cookie", "a=1"],
      ["cookie", "b=2"],
    ];
    const got = await request(attacked(cookies));
    expect(headerValue(got.headers, "cookie")).toBe("a=1; b=2");
  });

  test("trailers are dropped", async () => {
    const trailers: RawHeaders = [
      ["transfer-encoding", "chunked"],
      ["content-length", "1"],
      ["x-injected", "1"],
    ];
    const got = await request({ ...posted([["content-length", "3"]], "abc"), trailers });
    expect(got.body.toString()).toBe("abc");
    expect(got.head).not.toMatch(/injected|transfer-encoding/i);
  });

  test("te: trailers is forwarded, and Host is the service's", async () => {
    const got = await request(attacked([["te", "trailers"]]));
    expect(headerValue(got.headers, "te")).toBe("trailers");
    expect(headerValue(got.headers, "host")).toBe(new URL(service.url).host);
  });

  test("Host is accepted instead of :authority", async () => {
    await request(without(":authority", ["host", "gateway.test"]));
  });

  test("a wrong :scheme has no effect", async () => {
    const got = await request({ spelling: { scheme: "http://gateway.test/hidden?" } });
    expect(got.target).toBe("/widgets");
  });

  test("dot segments and backslashes are normalized as in HTTP/1.1", async () => {
    const got = await request({ spelling: { path: "/hidden/%2e%2e\\widgets#/hidden" } });
    expect(got.target).toBe("/widgets");
  });

  test("fields that differ from protected headers only by underscores are removed", async () => {
    const fields: RawHeaders = [
      ["transfer_encoding", "chunked"],
      ["content_length", "3"],
      ["x_request_id", "injected"],
    ];
    const got = await request(attacked(fields));
    expect(got.head).not.toMatch(/transfer.encoding|content_length|injected/i);
  });
});
