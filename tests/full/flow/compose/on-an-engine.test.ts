/**
 * Tests of compose.yaml on a Docker engine. Run them with `TEST_CONTAINERS=true bun test tests/full/flow/compose`.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { tourText } from "../../../../apps/platform/tour.ts";
import { ComposeProject, triesContainers } from "../../../support/stores/containers.ts";
import { expectTour, HIDDEN_BEHIND_A_BALANCER, takeTour } from "../quick-start/tour.ts";
import { PARTS } from "./file.ts";

setDefaultTimeout(300_000);

const parts = Object.keys(PARTS);

describe.skipIf(!triesContainers)("compose.yaml on a Docker engine", () => {
  let project: ComposeProject;

  beforeAll(async () => {
    project = await ComposeProject.prepare({ RATE_LIMIT_REQUESTS: "0" });
    await project.must("build");
    await project.must("up", "--detach", "--wait");
  });
  afterAll(() => project?.close());

  const container = (service: string) => `${project.name}-${service}-1`;
  const inspected = async (service: string, format: string) =>
    (await project.run(["docker", "inspect", "--format", format, container(service)])).output.trim();
  const isHealthy = async (service: string) =>
    (await inspected(service, "{{.State.Health.Status}}")) === "healthy";

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
      const response = await fetch(`${project.url("REGISTRY_PORT")}/services/${service}/revisions`, {
        headers: { Authorization: `Bearer ${token}` },
      });
      expect(await response.json()).toMatchObject({ revisions: [{ revision: 1 }] });
    }
  });

  test.each(parts)("%s cannot write to disk, is not root, and has no capabilities", async (service) => {
    const inside = (code: string) => project.compose(["exec", "-T", service, "bun", "-e", code]);
    expect((await inside('await Bun.write("/ostiary/x", "")')).output).toContain("EROFS");
    const { output: status } = await inside('console.log(await Bun.file("/proc/self/status").text())');
    expect(status).toMatch(/^CapEff:\s*0+$/m);
    expect(status).toMatch(/^NoNewPrivs:\s*1$/m);
    expect(status).not.toMatch(/^Uid:\s*0/m);
  });

  test("the image has no shell", async () => {
    const { exitCode } = await project.compose(["exec", "-T", "registry", "sh", "-c", "true"]);
    expect(exitCode).not.toBe(0);
  });

  test("`down --volumes` removes everything", async () => {
    await project.must("--profile", "*", "down", "--volumes", "--timeout", "40");
    const label = `label=com.docker.compose.project=${project.name}`;
    for (const kind of ["container", "volume", "network"]) {
      const every = kind === "container" ? ["--all"] : [];
      const { output } = await project.run(["docker", kind, "ls", ...every, "--quiet", "--filter", label]);
      expect([kind, output]).toEqual([kind, ""]);
    }
  });
});
