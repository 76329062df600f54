import {
  type IdentifiedIntent,
  type IdentifiedOutcome,
  identifiedIntentSchema,
  identifiedOutcomeSchema,
} from "@ostiary/lib/contracts/audit";
import {
  AUDIT_INTENTS_PATH,
  AUDIT_OUTCOMES_PATH,
  QUOTA_COUNTS_PATH,
  USAGE_PATH,
} from "@ostiary/lib/contracts/internal-api";
import { QuotaLookup, type QuotaName, UsageReport } from "@ostiary/lib/contracts/usage-contract";
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";

const intentsBody = Type.Object({ intents: Type.Array(identifiedIntentSchema) });
const outcomesBody = Type.Object({ outcomes: Type.Array(identifiedOutcomeSchema) });

/** A call that the stand-in has received: the write of one intent (PUT) or one outcome (PATCH). */
export interface Write {
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
  readonly token: string | null;
}

/**
 * A usage report that the stand-in has received, with the gateway's instance and the report's number in the
 * URL.
 */
interface ReceivedReport {
  readonly instance: string;
  readonly number: number;
  readonly report: UsageReport;
}

type Respond = (write: Write) => Response | Promise<Response>;

/** Returns the response to a call that holds several items: intents, outcomes or questions for quotas. */
type RespondToBatch<Item> = (items: readonly Item[]) => Response | Promise<Response>;

/** A stand-in for the audit service. It records every call and responds with the functions of its fields. */
export interface AuditStandIn {
  readonly url: string;
  readonly writes: Write[];
  /** Returns the writes so far that have this method. */
  of(method: "PUT" | "PATCH"): Write[];
  /**
   * Returns the highest number of concurrent calls so far. A batch or report counts only until its body is
   * read.
   */
  readonly most: () => number;
  /** Called for each write. By default it accepts the write. */
  respond: Respond;
  readonly intentBatches: (readonly IdentifiedIntent[])[];
  readonly outcomeBatches: (readonly IdentifiedOutcome[])[];
  /**
   * Called for each batch of intents. The default response is 404, after which the gateway sends each intent
   * alone.
   */
  respondToIntents: RespondToBatch<IdentifiedIntent>;
  respondToOutcomes: RespondToBatch<IdentifiedOutcome>;
  /** The usage reports so far, repeated ones included. */
  readonly reports: ReceivedReport[];
  /** Called for each usage report. The default response is 201. */
  respondToReport: (received: ReceivedReport) => Response | Promise<Response>;
  /** Called for each question for quota counts. The default response has the count 0 for each quota. */
  respondToQuotas: RespondToBatch<QuotaName>;
  stop(): Promise<void>;
}

export const taken: Respond = ({ method }) => new Response(null, { status: method === "PUT" ? 201 : 204 });
export const responding = (status: number): Respond => {
  return () => new Response(null, { status });
};

/** Returns a function that responds to a batch with `result` for each of its writes. */
export const eachIs =
  (result: string): RespondToBatch<{ readonly request_id: string }> =>
  (items) =>
    Response.json({ results: items.map(({ request_id }) => ({ request_id, result })) });

const unknownCall = () => new Response(null, { status: 404 });

export function startAudit(port = 0): AuditStandIn {
  let open = 0;
  let most = 0;
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port,
    idleTimeout: 0,
    async fetch(request) {
      open += 1;
      most = Math.max(most, open);
      const body = await request.json();
      const path = new URL(request.url).pathname;
      if (path === AUDIT_INTENTS_PATH) {
        open -= 1;
        const { intents } = Value.Parse(intentsBody, body);
        audit.intentBatches.push(intents);
        return audit.respondToIntents(intents);
      }
      if (path === AUDIT_OUTCOMES_PATH) {
        open -= 1;
        const { outcomes } = Value.Parse(outcomesBody, body);
        audit.outcomeBatches.push(outcomes);
        return audit.respondToOutcomes(outcomes);
      }
      if (path === QUOTA_COUNTS_PATH) {
        open -= 1;
        return audit.respondToQuotas(Value.Parse(QuotaLookup, body).quotas);
      }
      if (path.startsWith(`${USAGE_PATH}/`)) {
        open -= 1;
        const [instance = "", number = ""] = path.slice(USAGE_PATH.length + 1).split("/");
        const received = { instance, number: Number(number), report: Value.Parse(UsageReport, body) };
        audit.reports.push(received);
        return audit.respondToReport(received);
      }
      const write = {
        method: request.method,
        path,
        body,
        token: request.headers.get("x-platform-internal-token"),
      };
      audit.writes.push(write);
      try {
        return await audit.respond(write);
      } finally {
        open -= 1;
      }
    },
  });
  const audit: AuditStandIn = {
    url: `http://127.0.0.1:${server.port}`,
    writes: [],
    of: (method) => audit.writes.filter((write) => write.method === method),
    most: () => most,
    respond: taken,
    intentBatches: [],
    outcomeBatches: [],
    respondToIntents: unknownCall,
    respondToOutcomes: unknownCall,
    reports: [],
    respondToReport: () => new Response(null, { status: 201 }),
    respondToQuotas: (quotas) => Response.json({ counts: quotas.map(() => 0) }),
    stop: () => server.stop(true),
  };
  return audit;
}
