/**
 * Tests of compose.yaml on a Docker engine. Run them with `TEST_CONTAINERS=true bun test tests/full/flow/compose`.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { tourText } from "@ostiary/platform/tour";
import { waitFor } from "../../../support/index.ts";
import { ComposeProject, triesContainers } from "../../../support/stores/containers.ts";
import { expectTour, HIDDEN_BEHIND_A_BALANCER, takeTour } from "../quick-start/tour.ts";
import { PARTS } from "./file.ts";

setDefaultTimeout(300_000);

/** The maximum time until a container is healthy, on a busy machine. */
const HEALTHY_MS = 200_000;
const PUBLIC = "/demo/hello";
const parts = Object.keys(PARTS);

describe.skipIf(!triesContainers)("compose.yaml on a Docker engine", () => {
  let project: ComposeProject;

  beforeAll(async () => {
    project = await ComposeProject.prepare({ RATE_LIMIT_REQUESTS: "0" });
    await project.must("build");
    await project.must("up", "--detach", "--wait");
  });
  afterAll(() => project?.close());

  const gateway = (path: string, init?: RequestInit) => fetch(project.url("GATEWAY_PORT") + path, init);
  const container = (service: string) => `${project.name}-${service}-1`;
  const inspected = async (service: string, format: string) =>
    (await project.run(["docker", "inspect", "--format", format, container(service)])).said.trim();
  const isHealthy = async (service: string) =>
    (await inspected(service, "{{.State.Health.Status}}")) === "healthy";

  /** Returns the balancer's text about the number of ready gateways. */
  const readiness = async () => {
    const asked = await project.compose([
      "exec",
      "-T",
      "balancer",
      "wget",
      "-qO-",
      "http://127.0.0.1:8404/ready",
    ]);
    return asked.exitCode === 0 ? asked.said : "no gateway";
  };

  /** Sends requests without retries while `act` runs. Returns how often each status or error occurred. */
  async function underLoad(act: () => Promise<void>): Promise<Record<string, number>> {
    const answers: Record<string, number> = {};
    let isOver = false;
    const client = async (keepalive: boolean) => {
      while (!isOver) {
        const status = await gateway(PUBLIC, { keepalive }).then(
          async (answer) => {
            await answer.text();
            return String(answer.status);
          },
          (error: unknown) => String(error),
        );
        answers[status] = (answers[status] ?? 0) + 1;
        await Bun.sleep(5);
      }
    };
    const clients = [true, true, true, true, false, false, false, false].map(client);
    try {
      await act();
    } finally {
      isOver = true;
    }
    await Promise.all(clients);
    return answers;
  }

  test.each([...parts, "balancer", "postgres", "redis", "etcd", "demo"])("%s is healthy", async (service) => {
    expect(await isHealthy(service)).toBe(true);
  });

  test("the tour works", async () => {
    const text = tourText({
      gatewayUrl: project.url("GATEWAY_PORT"),
      registryUrl: project.url("REGISTRY_PORT"),
      identityProviderUrl: project.url("DEMO_IDENTITY_PROVIDER_PORT"),
      sampleServiceUrl: "http://demo:4000",
      adminTokenFile: project.adminTokenFile,
    });
    expectTour(await takeTour(text), HIDDEN_BEHIND_A_BALANCER);
  });

  test("a second `up` restarts nothing and publishes nothing", async () => {
    const before = await Promise.all(parts.map((part) => inspected(part, "{{.State.StartedAt}}")));
    await project.must("up", "--detach", "--wait");
    const after = await Promise.all(parts.map((part) => inspected(part, "{{.State.StartedAt}}")));
    expect(after).toEqual(before);
    const token = await Bun.file(project.adminTokenFile).text();
    for (const service of ["identity", "audit", "demo"]) {
      const answer = await fetch(`${project.url("REGISTRY_PORT")}/services/${service}/revisions`, {
        headers: { Authorization: `Bearer ${token}` },
      });
      expect(await answer.json()).toMatchObject({ revisions: [{ revision: 1 }] });
    }
  });

  test.each(["gateway-1", "gateway-2"])("%s restarts under load, and no request fails", async (service) => {
    const answers = await underLoad(async () => {
      await project.must("restart", service);
      await waitFor(() => isHealthy(service), { timeoutMs: HEALTHY_MS, what: service });
    });
    expect(Object.keys(answers)).toEqual(["200"]);
  });

  test("without Redis the balancer counts no gateway as ready, and routes without a limit are served", async () => {
    await project.must("stop", "redis");
    try {
      await waitFor(async () => (await readiness()).startsWith("no gateway"), { timeoutMs: HEALTHY_MS });
      expect((await gateway(PUBLIC)).status).toBe(200);
    } finally {
      await project.must("start", "redis");
    }
    await waitFor(async () => (await readiness()).startsWith("2 "), { timeoutMs: HEALTHY_MS });
  });

  test("a gateway and audit exit with 0 when their containers are stopped", async () => {
    await project.must("stop", "gateway-2", "audit");
    expect(await inspected("gateway-2", "{{.State.ExitCode}}")).toBe("0");
    expect(await inspected("audit", "{{.State.ExitCode}}")).toBe("0");
    await project.must("up", "--detach", "--wait");
  });

  test("the balancer stops using a killed gateway at once, and the engine restarts the gateway", async () => {
    const restarts = Number(await inspected("gateway-1", "{{.RestartCount}}"));
    const answers = await underLoad(async () => {
      await project.compose(["exec", "-T", "gateway-1", "sh", "-c", "kill -9 -1"]);
      await waitFor(
        async () =>
          Number(await inspected("gateway-1", "{{.RestartCount}}")) > restarts && isHealthy("gateway-1"),
        { timeoutMs: HEALTHY_MS, what: "gateway-1 to come back" },
      );
    });
    const { "200": served = 0, ...failed } = answers;
    // Each of the eight clients has at most one request in flight, so at most eight requests fail.
    expect(Object.values(failed).reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(8);
    expect(served).toBeGreaterThan(100);
  });

  test.each(parts)("%s cannot write to disk, is not root, and has no capabilities", async (service) => {
    const touched = await project.compose(["exec", "-T", service, "touch", "/ostiary/x"]);
    expect(touched.said).toContain("Read-only file system");
    const status = await project.must("exec", "-T", service, "cat", "/proc/self/status");
    expect(status).toMatch(/^CapEff:\s*0+$/m);
    expect(status).toMatch(/^NoNewPrivs:\s*1$/m);
    expect(status).not.toMatch(/^Uid:\s*0/m);
  });

  test("a missing, empty or unreadable secret is named, and the service does not start", async () => {
    const env = { OSTIARY_SECRETS: "/nowhere" };
    const missing = await project.compose(["run", "--rm", "--no-deps", "audit"], env);
    expect(missing.exitCode).not.toBe(0);
    expect(missing.said).toMatch(/\/nowhere\/[a-z-]+/);
    const empty = await alone("registry", "ADMIN_TOKEN_FILE=/dev/null");
    expect(empty.exitCode).toBe(78);
    expect(empty.said).toContain("ADMIN_TOKEN_FILE");
    const unreadable = await alone("registry", "ADMIN_TOKEN_FILE=/etc/shadow");
    expect(unreadable.exitCode).toBe(78);
    expect(unreadable.said).toContain("ADMIN_TOKEN_FILE");
  });

  test("the message about a wrong PostgreSQL password names the variable and not the password", async () => {
    const { exitCode, said } = await alone(
      "identity",
      "DATABASE_URL_FILE=",
      "DATABASE_URL=postgres://postgres:not-the-password@postgres:5432/ostiary",
    );
    expect(exitCode).toBe(1);
    expect(said).toContain("DATABASE_URL");
    expect(said).not.toContain("not-the-password");
  });

  test("a required setting that is missing is named by docker compose", async () => {
    const { exitCode, said } = await project.run(["docker", "compose", "-p", project.name, "config"], {
      AUTH_ISSUER: "",
    });
    expect(exitCode).not.toBe(0);
    expect(said).toContain("AUTH_ISSUER");
  });

  test("a port that is in use is named by docker compose", async () => {
    const taken = Bun.listen({ hostname: "0.0.0.0", port: 0, socket: { data: () => {} } });
    const given = { GATEWAY_PORT: String(taken.port) };
    const { exitCode, said } = await project.compose(["up", "--detach", "--no-deps", "balancer"], given);
    taken.stop(true);
    expect(exitCode).not.toBe(0);
    expect(said).toContain(String(taken.port));
    await project.must("up", "--detach", "--wait");
    expect((await gateway(PUBLIC)).status).toBe(200);
  });

  /** Runs a service in an additional container with changed environment variables. */
  function alone(service: string, ...variables: string[]) {
    const given = variables.flatMap((variable) => ["--env", variable]);
    return project.compose(["run", "--rm", "--no-deps", "-T", ...given, service]);
  }

  test("`down --volumes` removes everything", async () => {
    await project.must("--profile", "*", "down", "--volumes", "--timeout", "40");
    const label = `label=com.docker.compose.project=${project.name}`;
    for (const kind of ["container", "volume", "network"]) {
      const every = kind === "container" ? ["--all"] : [];
      const { said } = await project.run(["docker", kind, "ls", ...every, "--quiet", "--filter", label]);
      expect([kind, said]).toEqual([kind, ""]);
    }
  });
});
