import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { freePort } from "../http/free-port.ts";
import { runToEnd } from "../processes/run-to-end.ts";
import { temporaryFolder } from "../temporary-folder.ts";

/**
 * Whether tests start compose.yaml on a Docker engine, which takes minutes. `.ci/run` sets `TEST_CONTAINERS`
 * on machines with a Docker engine.
 */
export const triesContainers = process.env.TEST_CONTAINERS === "true";

interface Ran {
  exitCode: number;
  output: string;
}

/** A Compose project from compose.yaml with its own name, ports and secrets. */
export class ComposeProject {
  readonly name = `ostiary-test-${randomUUID().slice(0, 8)}`;
  readonly #folder: string;
  readonly #env: Record<string, string>;

  private constructor(folder: string, env: Record<string, string>) {
    this.#folder = folder;
    this.#env = env;
  }

  /**
   * Prepares a project. The secrets come from `make-secrets`, as on a server. `settings` are variables of
   * compose.yaml.
   */
  static async prepare(settings: Record<string, string> = {}): Promise<ComposeProject> {
    const folder = temporaryFolder("compose");
    const [user, group] = [process.getuid?.() || 1_000, process.getgid?.() || 1_000];
    const env = {
      OSTIARY_IMAGE: "ostiary:test",
      OSTIARY_USER: `${user}:${group}`,
      OSTIARY_SECRETS: folder,
      GATEWAY_PORT: String(freePort()),
      REGISTRY_PORT: String(freePort()),
      DEMO_IDENTITY_PROVIDER_PORT: String(freePort()),
      ...settings,
    };
    const project = new ComposeProject(folder, env);
    const made = await project.run(["sh", "apps/platform/deploy/containers/make-secrets", folder]);
    if (made.exitCode !== 0) throw new Error(made.output);
    return project;
  }

  url(variable: "GATEWAY_PORT" | "REGISTRY_PORT" | "DEMO_IDENTITY_PROVIDER_PORT"): string {
    return `http://127.0.0.1:${this.#env[variable]}`;
  }

  get adminTokenFile(): string {
    return join(this.#folder, "admin-token");
  }

  /**
   * Runs `docker compose` with these parameters and the demo's settings. `env` overrides the project's
   * settings.
   */
  compose(parameters: string[], env: Record<string, string> = {}): Promise<Ran> {
    const demo = ["--env-file", "apps/platform/deploy/containers/demo.env"];
    return this.run(["docker", "compose", "-p", this.name, ...demo, ...parameters], env);
  }

  /** Runs `docker compose` and returns its output. Throws the output when the exit code is not 0. */
  async must(...parameters: string[]): Promise<string> {
    const { exitCode, output } = await this.compose(parameters);
    if (exitCode !== 0) throw new Error(output);
    return output;
  }

  async run(command: string[], env: Record<string, string> = {}): Promise<Ran> {
    const variables = { ...process.env, ...this.#env, ...env };
    const { exitCode, stdout, stderr } = await runToEnd(command, { env: variables });
    return { exitCode, output: stdout + stderr };
  }

  async close(): Promise<void> {
    await this.compose(["--profile", "*", "down", "--volumes", "--timeout", "40"]);
  }
}
