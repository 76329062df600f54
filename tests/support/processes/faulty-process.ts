/**
 * A service with errors that it does not catch: requests for the paths `/reject`, `/reject-text` and `/throw`
 * cause them. The environment variable FAILURE_AT_START names such a path, whose error then occurs before the
 * service listens.
 */
import { listenVariables, loadConfig } from "@ostiary/lib/runtime/config";
import { runMain, type Service, serve } from "@ostiary/lib/runtime/service";
import { createTelemetry } from "@ostiary/lib/runtime/telemetry";
import { Type } from "@sinclair/typebox";

const SECRET = "http://service.internal/things?token=never-logged";

class Unreachable extends Error {
  readonly code = "ECONNRESET";
  readonly path = SECRET;
}

/**
 * Returns an error whose message looks like a stack trace and contains a secret, which no log line may
 * contain.
 */
const unreachable = () => new Unreachable(`${SECRET}\n    at ${SECRET}:1:2\n    at ${SECRET}.ts:3:4`);

const failures: Record<string, () => void> = {
  "/reject": () => void Promise.reject(unreachable()),
  "/reject-text": () => void Promise.reject(SECRET),
  "/throw": () =>
    void setTimeout(() => {
      throw unreachable();
    }),
};

await runMain(async () => {
  const config = loadConfig(
    Type.Object(listenVariables({ host: "127.0.0.1", port: 0, internal_port: 0 })),
    process.env,
  );
  failures[process.env.FAILURE_AT_START ?? ""]?.();
  await Bun.sleep(1); // The runtime reports the rejection in this event-loop iteration
  const respond = (request: Request) => {
    failures[new URL(request.url).pathname]?.();
    return new Response("ok");
  };
  const service: Service = {
    name: "faulty",
    telemetry: await createTelemetry({ name: "faulty", namespace: "tests" }, config),
    health: { draining: false },
    public: { fetch: respond },
    internal: { fetch: respond },
    start: async () => {},
    stop: async () => {},
  };
  return [await serve(service, config)];
});
