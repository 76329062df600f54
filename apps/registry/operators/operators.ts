import { timingSafeEqual } from "node:crypto";
import { readFile } from "node:fs/promises";
import { type Clock, Loop } from "@ostiary/lib/async";
import { ConfigError } from "@ostiary/lib/runtime/config";
import {
  ADMIN_OPERATOR,
  type ListedOperator,
  type Operator,
  parseOperatorsFile,
  readOperatorsFile,
  sha256Of,
} from "@ostiary/lib/runtime/config/operators-file";
import type { Logger } from "@ostiary/lib/runtime/telemetry";

export interface OperatorsOptions {
  /** The token of the operator `admin`. */
  readonly admin_token: string;
  /** The path of OPERATORS_FILE, or undefined without the file. */
  readonly file: string | undefined;
  readonly clock: Clock;
  readonly log: Pick<Logger, "info" | "warn">;
}

/** The pause between two reads of the file. */
const READ_MS = 1_000;

interface Token {
  readonly operator: Operator;
  readonly sha256: Buffer;
  readonly ends_ms: number | null;
}

/**
 * The operators who may call the registry: the holder of ADMIN_TOKEN, and those of OPERATORS_FILE. The file
 * is read again and again. A file that turns bad changes nothing (RG-116).
 */
export class Operators {
  readonly #options: OperatorsOptions;
  readonly #reading: Loop;
  #tokens: readonly Token[];
  /** The latest content of the file, good or bad. */
  #text: string | undefined;
  #problem: string | null = null;

  /** @throws ConfigError for a file that is not valid */
  constructor(options: OperatorsOptions) {
    this.#options = options;
    const { file, admin_token } = options;
    this.#text = file === undefined ? undefined : readOperatorsFile(file);
    this.#tokens = this.#tokensOf(
      this.#text === undefined ? [] : parseOperatorsFile(this.#text, admin_token),
    );
    this.#reading = new Loop({
      task: () => this.#read(),
      pause_ms: READ_MS,
      retry_ms: READ_MS,
      onFailure: (error) => this.#keep(undefined, error),
      clock: options.clock,
    });
  }

  start(): void {
    if (this.#options.file !== undefined) this.#reading.start();
  }

  async stop(): Promise<void> {
    await this.#reading.stop();
  }

  /** Returns what is wrong with the file since the operators in use were read, or null. */
  get problem(): string | null {
    return this.#problem;
  }

  /**
   * Returns the operator of a token, or null for a token that is unknown or has ended. Every token is
   * compared, so that the time tells nothing about them (RG-112).
   */
  find(token: string): Operator | null {
    const given = Buffer.from(sha256Of(token), "hex");
    const now_ms = this.#options.clock.now();
    let found: Operator | null = null;
    for (const { operator, sha256, ends_ms } of this.#tokens) {
      const isSame = timingSafeEqual(given, sha256);
      const isOver = ends_ms !== null && ends_ms <= now_ms;
      if (isSame && !isOver) found = operator;
    }
    return found;
  }

  async #read(): Promise<void> {
    const { file, admin_token, log } = this.#options;
    if (file === undefined) return;
    const text = await readFile(file, "utf8");
    if (text === this.#text) return;
    try {
      const listed = parseOperatorsFile(text, admin_token);
      this.#tokens = this.#tokensOf(listed);
      this.#text = text;
      this.#problem = null;
      log.info({ operators: listed.length }, "OPERATORS_FILE changed and is in use");
    } catch (error) {
      this.#keep(text, error);
    }
  }

  /** Keeps the operators in use, and says once what is wrong with the file. */
  #keep(text: string | undefined, error: unknown): void {
    this.#text = text;
    const problem =
      error instanceof ConfigError
        ? error.problems.map(({ message }) => message).join(" ")
        : "The file cannot be read.";
    if (problem === this.#problem) return;
    this.#problem = problem;
    this.#options.log.warn(
      { problem },
      "OPERATORS_FILE is not valid: the registry keeps the operators of the last valid file",
    );
  }

  #tokensOf(listed: readonly ListedOperator[]): readonly Token[] {
    const admin: ListedOperator = {
      operator: { name: ADMIN_OPERATOR, role: "admin", services: null, paths: null },
      tokens: [{ sha256: sha256Of(this.#options.admin_token), ends_ms: null }],
    };
    return [admin, ...listed].flatMap(({ operator, tokens }) =>
      tokens.map(({ sha256, ends_ms }) => ({ operator, sha256: Buffer.from(sha256, "hex"), ends_ms })),
    );
  }
}
