import { waitFor } from "../time/wait-for.ts";

/**
 * Sends a request through a gateway, and sends it again while the response is 503. On a busy machine, a service or
 * store can take longer than the gateway waits for it. A request that the gateway refuses with 503 has reached no
 * service.
 */
export function admitted(send: () => Promise<Response>): Promise<Response> {
  return waitFor(
    async () => {
      const response = await send();
      if (response.status !== 503) return response;
      throw new Error(`503 ${await response.text()}`);
    },
    { what: "a response other than 503" },
  );
}
