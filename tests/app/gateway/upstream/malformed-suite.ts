import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { MALFORMED } from "../../../support/gateway/malformed-responses.ts";
import { OK, RawUpstream } from "../../../support/http/raw-http.ts";
import { rejection, waitFor } from "../../../support/index.ts";
import { type ClientUnderTest, call } from "./client-bed.ts";

/** Tests that a malformed response fails, closes its connection and causes no retry. */
export function describeMalformed({ name, make }: ClientUnderTest): void {
  const client = make();
  const service = new RawUpstream();
  afterAll(() => {
    client.closeIdle();
    service.close();
  });
  beforeEach(() => {
    service.requests.length = 0;
  });

  // GW-166
  describe(`${name} refuses`, () => {
    test.each(Object.entries(MALFORMED))("%s", async (_, answer) => {
      service.handler = () => answer;
      const failure = await rejection(call(client, service));
      expect(failure).toBeInstanceOf(Error);
      expect(String(failure)).not.toContain("X-A");
      expect(service.requests.length).toBe(1);
      await waitFor(() => service.open === 0);
      service.handler = () => OK;
      expect(await call(client, service)).toMatchObject({ status: 200, text: "ok" });
    });
  });
}
