import { randomUUID } from "node:crypto";
import { GenericContainer, type StartedTestContainer, Wait } from "testcontainers";
import { freePort } from "../http/free-port.ts";
import { leash } from "../processes/clean-up-after-kill.ts";
import { runToEnd } from "../processes/run-to-end.ts";
import { wordsOf } from "../words.ts";
import type { TestServer } from "./server.ts";

interface Image {
  name: string;
  port: number;
  command: string[];
  environment: Record<string, string>;
  log: RegExp;
  url: (port: number) => string;
}

export const images = {
  postgres: {
    name: "postgres:17-alpine",
    port: 5432,
    command: ["postgres", "-c", "fsync=off", "-c", "max_connections=400"],
    environment: { POSTGRES_PASSWORD: "postgres" },
    log: /database system is ready to accept connections/,
    url: (port) => `postgres://postgres:postgres@127.0.0.1:${port}/postgres`,
  },
  redis: {
    name: "redis:7-alpine",
    port: 6379,
    command: ["redis-server", "--save", "", "--databases", "4096"],
    environment: {},
    log: /Ready to accept connections/,
    url: (port) => `redis://127.0.0.1:${port}`,
  },
  etcd: {
    name: "quay.io/coreos/etcd:v3.5.21",
    port: 2379,
    command: [
      "/usr/local/bin/etcd",
      ...wordsOf("--listen-client-urls http://0.0.0.0:2379 --advertise-client-urls http://127.0.0.1:2379"),
    ],
    environment: {},
    log: /ready to serve client requests/,
    url: (port) => `http://127.0.0.1:${port}`,
  },
} satisfies Record<string, Image>;

const START_TIMEOUT_MS = 180_000;

/**
 * Starts a server in its own container. This function chooses the port, because a port that Docker chooses
 * changes with each restart.
 */
export async function startContainer(image: Image): Promise<TestServer> {
  const port = freePort();
  const name = `ostiary-test-${randomUUID()}`;
  leash().container(name);
  const container = await new GenericContainer(image.name)
    .withName(name)
    .withCommand(image.command)
    .withEnvironment(image.environment)
    .withExposedPorts({ container: image.port, host: port })
    // A busy machine takes long to create a database.
    .withStartupTimeout(START_TIMEOUT_MS)
    .withWaitStrategy(Wait.forAll([Wait.forLogMessage(image.log), Wait.forListeningPorts()]))
    .start();
  return new ContainerTestServer(image.url(port), name, container);
}

class ContainerTestServer implements TestServer {
  readonly url: string;
  readonly #name: string;
  readonly #container: StartedTestContainer;
  #frozen = false;

  constructor(url: string, name: string, container: StartedTestContainer) {
    this.url = url;
    this.#name = name;
    this.#container = container;
  }

  async kill(): Promise<void> {
    await this.thaw();
    if (await this.#runs()) await docker("kill", this.#name);
  }

  async stop(): Promise<void> {
    await this.thaw();
    await docker("stop", this.#name);
  }

  async restart(): Promise<void> {
    await this.kill();
    await this.#container.restart();
  }

  async freeze(): Promise<void> {
    await docker("pause", this.#name);
    this.#frozen = true;
  }

  async thaw(): Promise<void> {
    if (!this.#frozen) return;
    this.#frozen = false;
    await docker("unpause", this.#name);
  }

  async recover(): Promise<void> {
    await this.thaw();
    if (!(await this.#runs())) await this.#container.restart();
  }

  async close(): Promise<void> {
    await this.thaw();
    await this.#container.stop();
    leash().release(this.#name);
  }

  async #runs(): Promise<boolean> {
    return (await docker("inspect", "--format", "{{.State.Running}}", this.#name)) === "true";
  }
}

/** Runs `docker` with these parameters and resolves with its output. */
export async function docker(...parameters: string[]): Promise<string> {
  const { exitCode, stdout } = await runToEnd(["docker", ...parameters]);
  if (exitCode !== 0) throw new Error(`docker ${parameters.join(" ")} exited with code ${exitCode}.`);
  return stdout.trim();
}
