import { expect } from "bun:test";
import { parse } from "yaml";
import type { RunningProcess } from "../../support/index.ts";
import { metricOf } from "../../support/telemetry/metrics.ts";

/** A response whose request id is removed, so that responses of two processes can be compared. */
interface SubjectResponse {
  status: number;
  body: string;
}

export interface HostileRequest {
  /** The operation and the attack, for messages of failed tests. */
  name: string;
  method: string;
  path: string;
  body?: string | Uint8Array<ArrayBuffer>;
  headers?: Record<string, string>;
}

export type Port = "public" | "internal";

/** A service under attack. It runs as a process, because its CPU time comes from the process's metrics. */
export class Subject {
  readonly #process: RunningProcess;
  readonly #headers: Record<string, string>;

  constructor(running: RunningProcess, headers: Record<string, string>) {
    this.#process = running;
    this.#headers = headers;
  }

  url(port: Port): string {
    return port === "public" ? this.#process.url : this.#process.internalUrl;
  }

  get stderr(): readonly string[] {
    return this.#process.stderr;
  }

  stop(): Promise<number> {
    return this.#process.stop();
  }

  async send(
    port: Port,
    { method, path, body, headers }: Omit<HostileRequest, "name">,
  ): Promise<SubjectResponse> {
    const response = await fetch(`${this.url(port)}${path}`, {
      method,
      headers: { "Content-Type": "application/json", ...this.#headers, ...headers },
      ...(method !== "GET" && method !== "HEAD" && { body }),
    });
    const text = await response.text();
    return { status: response.status, body: text.replace(/"request_id":"[^"]*"/, '"request_id":""') };
  }

  /**
   * Sends requests one by one, and expects that all together cost at most `cpuMsMax` of CPU time. If they
   * cost more, sends each request up to `TRIES` times, until one attempt costs at most `cpuMsMax`: the other
   * attempts can include compilation and garbage collection. On a slow machine, the limit is higher.
   */
  async sendBounded(
    port: Port,
    requests: readonly HostileRequest[],
    cpuMsMax: number,
  ): Promise<SubjectResponse[]> {
    const before = await this.cpu_ms();
    const responses = [];
    for (const request of requests) responses.push(await this.send(port, request));
    if ((await this.cpu_ms()) - before > cpuMsMax) {
      for (const request of requests) await this.#expectBounded(port, request, cpuMsMax);
    }
    return responses;
  }

  async #expectBounded(port: Port, request: HostileRequest, cpuMsMax: number): Promise<void> {
    const costs: number[] = [];
    while (costs.length < TRIES) {
      const before = await this.cpu_ms();
      await this.send(port, request);
      const spentMs = (await this.cpu_ms()) - before;
      // Measuring the machine takes longer than most requests.
      costs.push(spentMs <= cpuMsMax ? spentMs : spentMs / slowness());
      if (Math.min(...costs) <= cpuMsMax) return;
    }
    throw new Error(`${request.name} keeps the process busy for ${costs.map(Math.round).join(", ")} ms.`);
  }

  /** Returns the CPU time that the process has used so far, in milliseconds, from its metrics. */
  async cpu_ms(): Promise<number> {
    return 1_000 * (await metricOf(this.#process, "process_cpu_seconds_total"));
  }
}

const TRIES = 5;

const PLAIN_YAML = "- {path: /widgets, methods: [GET, POST]}\n".repeat(1_000);
/** The CPU time in which a machine of usual speed reads `PLAIN_YAML`. */
const PLAIN_YAML_MS = 20;
const PLAIN_YAML_READS = 5;

/** Returns by what factor this machine is slower now than a machine of usual speed, at least 1. */
function slowness(): number {
  const times = Array.from({ length: PLAIN_YAML_READS }, () => {
    const before = process.threadCpuUsage();
    parse(PLAIN_YAML);
    const { user, system } = process.threadCpuUsage(before);
    return (user + system) / 1_000;
  });
  return Math.max(1, Math.min(...times) / PLAIN_YAML_MS);
}

const RESPONSE_LENGTH_MAX = 64 * 1024;

/** Expects a 4xx error response (ER-1) with at most 100 field errors and no internal details. */
export function expectRefusal({ name }: HostileRequest, { status, body }: SubjectResponse): void {
  if (status < 400 || status > 499)
    throw new Error(`${name}: the response is ${status} ${body.slice(0, 200)}`);
  expect(body.length).toBeLessThan(RESPONSE_LENGTH_MAX);
  const { type, code, message, details } = JSON.parse(body).error;
  expect([name, type]).toEqual([name, "invalid_request_error"]);
  expect([name, message]).not.toEqual([name, expect.stringMatching(/\.ts\b|Error:|Maximum call stack|\/\^/)]);
  if (code === "VALIDATION_ERROR") expect(details.fields.length).toBeWithin(1, 101);
}
