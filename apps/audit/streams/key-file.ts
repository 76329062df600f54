import { createHash } from "node:crypto";
import { statSync } from "node:fs";
import type { Clock } from "@ostiary/lib/async";
import type { Logger } from "@ostiary/lib/runtime/telemetry";
import { keyFileProblems, readKeyFile } from "../key-file.ts";

/** A key that encrypts the secrets of streams. */
interface StreamKey {
  /** The first 8 hexadecimal digits of the key's SHA-256. Each secret that the key encrypted begins with these digits. */
  id: string;
  key: CryptoKey;
}

const KEY_BYTES = 32;
const KEYS_MAX = 16;
const FILE_BYTES_MAX = 4_096;
/** The minimum time between two checks of the file. */
const LOOK_MS = 1_000;

export const STREAM_KEYS_RULE =
  "must be the path of a file with one key of `openssl rand -base64 32` on each line; the first key encrypts new secrets";

/** Returns the problems of the key file. A check for `loadConfig`. */
export const checkStreamKeyFile = ({ AUDIT_STREAM_KEY_FILE }: { AUDIT_STREAM_KEY_FILE?: string }) =>
  keyFileProblems("AUDIT_STREAM_KEY_FILE", AUDIT_STREAM_KEY_FILE, readKeys);

/** The keys of AUDIT_STREAM_KEY_FILE. Changes of the file take effect without a restart (AU-98). */
export class StreamKeys {
  readonly #path: string;
  readonly #clock: Clock;
  readonly #log: Pick<Logger, "warn">;
  #keys: readonly StreamKey[] = [];
  #stamp = "";
  #lookAtMs = 0;

  /** Opens a file that {@link checkStreamKeyFile} accepts. */
  static async open(path: string, clock: Clock, log: Pick<Logger, "warn">): Promise<StreamKeys> {
    const keys = new StreamKeys(path, clock, log);
    await keys.#look();
    return keys;
  }

  private constructor(path: string, clock: Clock, log: Pick<Logger, "warn">) {
    this.#path = path;
    this.#clock = clock;
    this.#log = log;
  }

  /** Returns the keys; the first one encrypts. Keeps the last valid keys while the file is invalid. */
  async current(): Promise<readonly StreamKey[]> {
    if (this.#clock.elapsedMs() >= this.#lookAtMs) await this.#look();
    return this.#keys;
  }

  async #look(): Promise<void> {
    this.#lookAtMs = this.#clock.elapsedMs() + LOOK_MS;
    const stamp = stampOf(this.#path);
    if (stamp === this.#stamp) return;
    this.#stamp = stamp;
    const read = readKeys(this.#path);
    if ("problem" in read) {
      this.#log.warn(
        { reason: read.problem },
        "the audit service cannot read the keys of streams and keeps the old ones",
      );
      return;
    }
    this.#keys = await Promise.all(read.keys.map(imported));
  }
}

async function imported(bytes: Uint8Array<ArrayBuffer>): Promise<StreamKey> {
  const key = await crypto.subtle.importKey("raw", bytes, "AES-GCM", false, ["encrypt", "decrypt"]);
  return { id: createHash("sha256").update(bytes).digest("hex").slice(0, 8), key };
}

function readKeys(path: string) {
  return readKeyFile(path, { bytesMax: FILE_BYTES_MAX, rule: STREAM_KEYS_RULE }, keysOf);
}

function keysOf(text: string): Uint8Array<ArrayBuffer>[] | null {
  const lines = text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
  const keys = lines.map((line) => new Uint8Array(Buffer.from(line, "base64")));
  const isRight =
    keys.length > 0 &&
    keys.length <= KEYS_MAX &&
    keys.every(
      (key, index) => key.length === KEY_BYTES && Buffer.from(key).toString("base64") === lines[index],
    );
  return isRight ? keys : null;
}

/** Returns a text that changes with the file, also when a symbolic link gets a new target. */
function stampOf(path: string): string {
  const found = statSync(path, { throwIfNoEntry: false });
  return found === undefined ? "none" : `${found.ino} ${found.mtimeMs} ${found.size}`;
}
