import { listenVariables, loadConfig } from "@ostiary/lib/runtime/config";
import { runMain, type Service, serve } from "@ostiary/lib/runtime/service";
import { createTelemetry } from "@ostiary/lib/runtime/telemetry";
import { Type } from "@sinclair/typebox";

/**
 * A service that leaves errors uncaught: at `/reject` and `/throw`, and the one of FAULT_AT_START before it
 * listens.
 */
const SECRET = "http://service.internal/things?token=never-told";

class Unreachable extends Error {
  readonly code = "ECONNRESET";
  readonly path = SECRET;
}

/** The message looks like a place in code, and holds a secret that must not be logged. */
const fault = () => new Unreachable(`${SECRET}\n    at ${SECRET}:1:2\n    at ${SECRET}.ts:3:4`);

const faults: Record<string, () => void> = {
  "/reject": () => void Promise.reject(fault()),
  "/reject-text": () => void Promise.reject(SECRET),
  "/throw": () =>
    void setTimeout(() => {
      throw fault();
    }),
};

await runMain(async () => {
  const config = loadConfig(
    Type.Object(listenVariables({ host: "127.0.0.1", port: 0, internal_port: 0 })),
    process.env,
  );
  faults[process.env.FAULT_AT_START ?? ""]?.();
  await Bun.sleep(1); // One turn, in which the rejection is noticed
  const answer = (request: Request) => {
    faults[new URL(request.url).pathname]?.();
    return new Response("ok");
  };
  const service: Service = {
    name: "faulty",
    telemetry: await createTelemetry({ name: "faulty", namespace: "tests" }, config),
    health: { draining: false },
    public: { fetch: answer },
    internal: { fetch: answer },
    start: async () => {},
    stop: async () => {},
  };
  return [await serve(service, config)];
});
