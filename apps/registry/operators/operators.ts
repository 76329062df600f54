import { timingSafeEqual } from "node:crypto";
import { readFile } from "node:fs/promises";
import { type Clock, Loop } from "@ostiary/lib/async";
import type { CurrentOperator, ListedOperators } from "@ostiary/lib/contracts/registry-api";
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
import { CredentialRefusal, shapeRefusal, type TokenClaims } from "@ostiary/lib/runtime/tokens";
import { fitsClaims } from "./claims.ts";
import type { OperatorProvider } from "./provider.ts";

interface OperatorsOptions {
  /** The token of the operator `admin`. */
  readonly adminToken: string;
  /** The path of OPERATORS_FILE, or undefined if the variable is not set. */
  readonly file: string | undefined;
  /** The identity provider that signs the JWTs of operators with claims, or null if none is configured. */
  readonly provider: Pick<OperatorProvider, "issuer" | "verify"> | null;
  readonly clock: Clock;
  readonly log: Pick<Logger, "info" | "warn">;
}

/** The pause between two reads of the file. */
const READ_MS = 1_000;

interface Token {
  readonly operator: Operator;
  readonly sha256: Buffer;
  readonly endsMs: number | null;
}

/** An operator, and the subject claim of the operator's JWT. `subject` is null for other tokens. */
export interface Caller {
  readonly operator: Operator;
  readonly subject: string | null;
}

const UNKNOWN = new CredentialRefusal(
  "operator",
  "No operator of OPERATORS_FILE has this token, or the token has expired.",
);
const NO_CLAIMS_FIT = new CredentialRefusal(
  "operator",
  "The JWT is valid, but its claims match no operator of OPERATORS_FILE.",
);

/**
 * The operators who may call the registry: the holder of ADMIN_TOKEN, and the operators of OPERATORS_FILE.
 * The file is read every second. While it is not valid, the operators of the last valid file stay in use
 * (RG-116).
 */
export class Operators {
  readonly #options: OperatorsOptions;
  readonly #reading: Loop;
  #tokens: readonly Token[];
  #listed: readonly ListedOperator[];
  /** The latest content of the file, valid or not. */
  #text: string | undefined;
  #problem: string | null = null;

  /** @throws ConfigError for a file that is not valid */
  constructor(options: OperatorsOptions) {
    this.#options = options;
    const { file } = options;
    this.#text = file === undefined ? undefined : readOperatorsFile(file);
    this.#listed = this.#text === undefined ? [] : this.#parse(this.#text);
    this.#tokens = this.#tokensOf(this.#listed);
    this.#reading = new Loop({
      task: () => this.#read(),
      pauseMs: READ_MS,
      retryMs: READ_MS,
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

  /** The problem that makes the current file invalid, or null if the file is in use. */
  get problem(): string | null {
    return this.#problem;
  }

  /**
   * Returns the operator of a token, or the reason why no operator has this token.
   *
   * @throws ApiError 503 for a JWT while the identity provider's keys are not loaded (RG-125)
   */
  async identify(token: string): Promise<Caller | CredentialRefusal> {
    const operator = this.find(token);
    if (operator !== null) return { operator, subject: null };
    const { provider } = this.#options;
    const refusal = shapeRefusal(token);
    // `find` has already compared the tokens that are not JWTs
    if (provider === null || refusal?.reason === "not_a_jwt") return UNKNOWN;
    if (refusal !== null) return refusal;
    const verified = await provider.verify(token);
    if (verified instanceof CredentialRefusal) return verified;
    const found = this.#withClaims(verified.claims);
    return found === null ? NO_CLAIMS_FIT : { operator: found, subject: verified.subject };
  }

  /** Returns the first operator of the file whose claims the token has, or null if there is none (RG-126). */
  #withClaims(token: TokenClaims): Operator | null {
    const nowMs = this.#options.clock.now();
    let found: Operator | null = null;
    for (const { operator, claims, endsMs } of this.#listed) {
      if (claims === null) continue;
      const isOver = endsMs !== null && endsMs <= nowMs;
      if (fitsClaims(claims, token) && !isOver) found ??= operator;
    }
    return found;
  }

  /**
   * Returns the operator of a token, or null for a token that is unknown or has expired. Compares every token, so that
   * the response time reveals nothing about the tokens (RG-112).
   */
  find(token: string): Operator | null {
    const given = Buffer.from(sha256Of(token), "hex");
    const nowMs = this.#options.clock.now();
    let found: Operator | null = null;
    for (const { operator, sha256, endsMs } of this.#tokens) {
      const isSame = timingSafeEqual(given, sha256);
      const isOver = endsMs !== null && endsMs <= nowMs;
      if (isSame && !isOver) found = operator;
    }
    return found;
  }

  /** Returns all operators, without hashes of tokens and without the values of claims (RG-174). */
  list(): ListedOperators["operators"] {
    const nowMs = this.#options.clock.now();
    return this.#all(this.#listed).map(({ operator, endsMs, tokens, claims }) => ({
      ...shownOperator(operator),
      expires_at: endsMs === null ? null : new Date(endsMs).toISOString(),
      tokens: tokens.filter((token) => token.endsMs === null || token.endsMs > nowMs).length,
      claims: claims === null ? [] : claims.pairs.map(([name]) => name),
    }));
  }

  async #read(): Promise<void> {
    const { file, log } = this.#options;
    if (file === undefined) return;
    const text = await readFile(file, "utf8");
    if (text === this.#text) return;
    try {
      const listed = this.#parse(text);
      this.#listed = listed;
      this.#tokens = this.#tokensOf(listed);
      this.#text = text;
      this.#problem = null;
      log.info({ operators: listed.length }, "OPERATORS_FILE changed and is in use");
    } catch (error) {
      this.#keep(text, error);
    }
  }

  #parse(text: string): readonly ListedOperator[] {
    const { adminToken, provider } = this.#options;
    return parseOperatorsFile(text, { adminToken, issuer: provider?.issuer ?? null });
  }

  /** Keeps the operators of the last valid file in use, and logs each problem of the new file once. */
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

  /** Returns the holder of ADMIN_TOKEN and the operators of the file. */
  #all(listed: readonly ListedOperator[]): readonly ListedOperator[] {
    const admin: ListedOperator = {
      operator: { name: ADMIN_OPERATOR, role: "admin", services: null, paths: null, urls: null },
      endsMs: null,
      tokens: [{ sha256: sha256Of(this.#options.adminToken), endsMs: null }],
      claims: null,
    };
    return [admin, ...listed];
  }

  #tokensOf(listed: readonly ListedOperator[]): readonly Token[] {
    return this.#all(listed).flatMap(({ operator, tokens }) =>
      tokens.map(({ sha256, endsMs }) => ({ operator, sha256: Buffer.from(sha256, "hex"), endsMs })),
    );
  }
}

/** Returns an operator as the API shows it. */
export function shownOperator({ name, role, services, paths, urls }: Operator): CurrentOperator {
  const listOf = (bounds: readonly string[] | null) => bounds && [...bounds];
  return { name, role, services: listOf(services), paths: listOf(paths), urls: listOf(urls) };
}
