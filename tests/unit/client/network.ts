import type { ClientOptions } from "../../../lib/client/client.ts";

/** A request that the client sent. */
export type Sent = Request;

/**
 * Returns the options of a client whose requests get `responses`, one after the other, and whose waits are recorded.
 */
export function callsWith(responses: readonly ((request: Request) => Response | Promise<Response>)[]) {
  const sent: Sent[] = [];
  const waits: number[] = [];
  const options = {
    baseUrl: "https://api.test",
    fetch: async (request: Request) => {
      sent.push(request);
      const respond = responses[sent.length - 1];
      if (respond === undefined) throw new Error("No further call was expected.");
      return respond(request);
    },
    wait: async (ms: number) => {
      waits.push(ms);
    },
  } satisfies ClientOptions;
  return { options, sent, waits };
}

/** Responds as the gateway does to a credential that it does not accept. */
export function refusal(): Response {
  const known = { type: "invalid_request_error", code: "UNAUTHORIZED", message: "Authentication required." };
  const error = { ...known, request_id: "1", details: null };
  return Response.json({ error }, { status: 401, headers: { "X-Request-ID": "1" } });
}
