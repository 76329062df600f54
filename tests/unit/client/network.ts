import type { ClientOptions } from "../../../lib/client/client.ts";

/** A request that the client sent. */
export type Sent = Request;

/** Returns the options of a client whose requests get `answers`, one after the other, and whose waits are recorded. */
export function callsWith(answers: readonly ((request: Request) => Response | Promise<Response>)[]) {
  const sent: Sent[] = [];
  const waits: number[] = [];
  const options = {
    baseUrl: "https://api.test",
    fetch: async (request: Request) => {
      sent.push(request);
      const answer = answers[sent.length - 1];
      if (answer === undefined) throw new Error("No further call was expected.");
      return answer(request);
    },
    wait: async (ms: number) => {
      waits.push(ms);
    },
  } satisfies ClientOptions;
  return { options, sent, waits };
}

/** Answers as the gateway does for a credential that it does not accept. */
export function refusal(): Response {
  const said = { type: "invalid_request_error", code: "UNAUTHORIZED", message: "Authentication required." };
  const error = { ...said, request_id: "1", details: null };
  return Response.json({ error }, { status: 401, headers: { "X-Request-ID": "1" } });
}
