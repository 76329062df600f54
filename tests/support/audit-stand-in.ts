/** One call that the stand-in has received. */
export interface Write {
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
  readonly token: string | null;
}

type Answer = (write: Write) => Response | Promise<Response>;

/** Stands in for the audit service: remembers every call and answers as told. */
export interface AuditStandIn {
  readonly url: string;
  readonly writes: Write[];
  /** Calls of one method so far. */
  of(method: "PUT" | "PATCH"): Write[];
  /** The most calls that were open at once. */
  readonly most: () => number;
  answer: Answer;
  stop(): Promise<void>;
}

export const taken: Answer = ({ method }) => new Response(null, { status: method === "PUT" ? 201 : 204 });
export const answering = (status: number): Answer => {
  return () => new Response(null, { status });
};

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
      const write = {
        method: request.method,
        path: new URL(request.url).pathname,
        body: await request.json(),
        token: request.headers.get("x-platform-internal-token"),
      };
      audit.writes.push(write);
      try {
        return await audit.answer(write);
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
    answer: taken,
    stop: () => server.stop(true),
  };
  return audit;
}
