import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { KINDS } from "../clients.ts";
import { VERSION_PATH, versionedService } from "../system/routes.ts";
import type { System } from "../system/system.ts";
import type { Recorder } from "./recorder.ts";

const LOOK_INTERVAL_MS = 250;
const LOOK_TIMEOUT_MS = 1_000;
const Versioned = Type.Object({ path: Type.String({ pattern: "^/versions/\\d+$" }) });

/**
 * A client that repeatedly publishes new versions of a service, and polls which version each gateway serves.
 */
export class Publisher {
  readonly #system: System;
  readonly #recorder: Recorder;
  /** The time at which each version was sent to a registry; the index is the version. */
  readonly #publishedMs: number[] = [performance.now()];
  readonly #timers: NodeJS.Timeout[];

  constructor(system: System, recorder: Recorder) {
    this.#system = system;
    this.#recorder = recorder;
    this.#timers = [
      setInterval(() => void this.#publish(), 1_000 / KINDS.publish.rate),
      setInterval(() => void this.#look(), LOOK_INTERVAL_MS),
    ];
  }

  stop(): void {
    for (const timer of this.#timers) clearInterval(timer);
  }

  async #publish(): Promise<void> {
    const { replica, url } = await this.#system.nextRegistry();
    const version = this.#publishedMs.push(performance.now()) - 1;
    const config = versionedService(this.#system.upstream.link.url, version);
    const responded = this.#recorder.sends("publish", replica);
    responded(await this.#system.put(url, "versioned", config));
  }

  async #look(): Promise<void> {
    await Promise.all(
      this.#system.gateways.map(async ({ url }, gateway) => {
        const version = await versionServed(url);
        const publishedMs = version === null ? undefined : this.#publishedMs[version];
        if (publishedMs === undefined) return;
        this.#recorder.sawServed({ atMs: performance.now(), gateway, publishedMs });
      }),
    );
  }
}

/** Returns the version that a gateway serves, or null if it does not respond. Uses no link that can fail. */
async function versionServed(gateway: string): Promise<number | null> {
  try {
    const signal = AbortSignal.timeout(LOOK_TIMEOUT_MS);
    const response: unknown = await (await fetch(gateway + VERSION_PATH, { signal })).json();
    const { path } = Value.Parse(Versioned, response);
    return Number(path.split("/").at(-1));
  } catch {
    return null;
  }
}
