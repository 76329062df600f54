import { LIMITS } from "../clients.ts";
import type { System } from "../system/system.ts";
import type { Recorder } from "./recorder.ts";
import type { Request } from "./requests.ts";

const MESSAGE_INTERVAL_MS = 500;
const REOPEN_MS = 500;
const PATIENCE_MS = 2 * LIMITS.upstreamMs;

/** Keeps one WebSocket open, and reopens it when it breaks. Records the round trip of each message. */
export async function keepSocket(
  system: System,
  recorder: Recorder,
  request: () => Request,
  stop: AbortSignal,
): Promise<void> {
  while (!stop.aborted) {
    const { replica, url } = await system.nextGateway();
    const { path, caller } = request();
    const conversation = new Conversation(url.replace("http", "ws") + path, caller.headers);
    for (let isOpen = true; isOpen && !stop.aborted; ) {
      const startedMs = performance.now();
      isOpen = await conversation.exchange();
      if (stop.aborted) break;
      const status = isOpen ? 200 : null;
      recorder.saw({ client: "socket", replica, startedMs, endedMs: performance.now(), status });
      await Bun.sleep(isOpen ? MESSAGE_INTERVAL_MS : REOPEN_MS);
    }
    conversation.end();
  }
}

class Conversation {
  readonly #socket: WebSocket;
  readonly #opened = Promise.withResolvers<boolean>();
  #answered = Promise.withResolvers<boolean>();

  constructor(url: string, headers: Readonly<Record<string, string>>) {
    this.#socket = new WebSocket(url, { headers });
    const broken = () => {
      this.#opened.resolve(false);
      this.#answered.resolve(false);
    };
    this.#socket.addEventListener("open", () => this.#opened.resolve(true));
    this.#socket.addEventListener("message", () => this.#answered.resolve(true));
    this.#socket.addEventListener("close", broken);
    this.#socket.addEventListener("error", broken);
  }

  /** Sends a message, and returns whether its echo arrived in time. */
  async exchange(): Promise<boolean> {
    const patience = Promise.withResolvers<boolean>();
    const timer = setTimeout(() => patience.resolve(false), PATIENCE_MS);
    try {
      if (!(await Promise.race([this.#opened.promise, patience.promise]))) return false;
      this.#answered = Promise.withResolvers();
      if (this.#socket.readyState !== WebSocket.OPEN) return false;
      this.#socket.send("there");
      return await Promise.race([this.#answered.promise, patience.promise]);
    } finally {
      clearTimeout(timer);
    }
  }

  end(): void {
    this.#socket.terminate();
  }
}
