import { type Static, type TOptional, type TString, Type } from "@sinclair/typebox";
import { fits, shownPath } from "../../domain/errors/index.ts";
import { isRecord } from "../../domain/json/index.ts";
import { addressPatternViolation, pathPrefixViolations } from "../../domain/routes/index.ts";
import { parseTime, RFC_3339_TIME, TIME_RULE } from "../../domain/schemas/index.ts";
import type { ConfigProblem } from "./load.ts";
import { claimProblems, OperatorClaims } from "./operator-claims.ts";
import { optionalText } from "./variables.ts";
import {
  entriesUnder,
  type FileProblem,
  parseYamlFile,
  problemAt,
  problemsOfLoading,
  readTextFile,
} from "./yaml-file.ts";

const VARIABLE = "OPERATORS_FILE";

/** The name of the operator who holds ADMIN_TOKEN. No operator in the file can have this name. */
export const ADMIN_OPERATOR = "admin";

const OPERATORS_MAX = 1_000;
const TOKENS_MAX = 8;
const PATTERNS_MAX = 100;

const Sha256 = Type.String({
  pattern: "^[0-9a-f]{64}$",
  rule: "must be the SHA-256 of a token: 64 lower-case hexadecimal digits, in quotes",
});
const Time = Type.String({
  format: RFC_3339_TIME,
  rule: TIME_RULE,
});
const EndingToken = Type.Object({ sha256: Sha256, expires_at: Time }, { additionalProperties: false });

const OperatorRole = Type.Union([Type.Literal("reader"), Type.Literal("publisher"), Type.Literal("admin")], {
  rule: "must be reader, publisher or admin",
});
type OperatorRole = Static<typeof OperatorRole>;

const ServicePattern = Type.String({
  pattern: "^[A-Za-z0-9._*-]{1,128}$",
  rule: "must be a service's name, in which * stands for any characters",
});
const Paths = Type.Array(Type.String({ rule: "must be a path, such as /org/widgets" }), {
  minItems: 1,
  maxItems: PATTERNS_MAX,
  rule: `must be a list of 1 to ${PATTERNS_MAX} paths`,
});
const Urls = Type.Array(Type.String({ rule: "must be a pattern, such as http://*.widgets.internal:8080" }), {
  minItems: 1,
  maxItems: PATTERNS_MAX,
  rule: `must be a list of 1 to ${PATTERNS_MAX} patterns of addresses`,
});

const OperatorName = Type.String({
  pattern: "^[A-Za-z0-9._@/+-]{1,128}$",
  rule: "must be 1 to 128 characters: letters, digits and ._@/+-",
});

const OperatorEntry = Type.Object(
  {
    name: OperatorName,
    role: OperatorRole,
    token_sha256: Type.Optional(
      Type.Array(Type.Union([Sha256, EndingToken], { rule: Sha256.rule }), {
        minItems: 1,
        maxItems: TOKENS_MAX,
        rule: `must be a list of 1 to ${TOKENS_MAX} hashes of tokens`,
      }),
    ),
    claims: Type.Optional(OperatorClaims),
    expires_at: Type.Optional(Time),
    services: Type.Optional(
      Type.Array(ServicePattern, {
        minItems: 1,
        maxItems: PATTERNS_MAX,
        rule: `must be a list of 1 to ${PATTERNS_MAX} names of services, in which * stands for any characters`,
      }),
    ),
    paths: Type.Optional(Paths),
    urls: Type.Optional(Urls),
  },
  {
    additionalProperties: false,
    rule: "must be a map with name, role, and token_sha256 or claims",
  },
);
type OperatorEntry = Static<typeof OperatorEntry>;

const OperatorsFileShape = Type.Object(
  {
    operators: Type.Array(OperatorEntry, {
      maxItems: OPERATORS_MAX,
      rule: `must be a list of at most ${OPERATORS_MAX} operators`,
    }),
  },
  { additionalProperties: false, rule: "must be a map with the key operators" },
);

/** A person or program that may call the registry (RG-111). */
export interface Operator {
  readonly name: string;
  readonly role: OperatorRole;
  /** The name patterns of the services that the operator may write, or null if every service is allowed. */
  readonly services: readonly string[] | null;
  /** The prefixes of the paths that the operator may publish, or null if every path is allowed. */
  readonly paths: readonly string[] | null;
  /** The patterns of the addresses of services, or null if every address is allowed. An empty list allows none. */
  readonly urls: readonly string[] | null;
}

interface OperatorToken {
  readonly sha256: string;
  /** When the token or its operator expires, whichever is earlier; null if neither does. */
  readonly endsMs: number | null;
}

export interface ListedClaims {
  readonly pairs: readonly (readonly [name: string, value: string])[];
}

/** An operator with its credentials: tokens of its own, or claims of the identity provider's tokens. */
export interface ListedOperator {
  readonly operator: Operator;
  readonly endsMs: number | null;
  readonly tokens: readonly OperatorToken[];
  readonly claims: ListedClaims | null;
}

export function operatorsFileVariable(): TOptional<TString> {
  return optionalText("must be the path of an operators file", {
    description:
      "The operators and what each may publish. The registry reads the file again when the file changes. Without a file, only ADMIN_TOKEN is accepted.",
  });
}

interface OperatorsVariables {
  OPERATORS_FILE?: string;
  ADMIN_TOKEN?: string;
  OPERATOR_ISSUER?: string;
}

export interface OperatorsContext {
  /** The value of ADMIN_TOKEN. No operator in the file can have the same token. */
  readonly adminToken?: string;
  /** The value of OPERATOR_ISSUER, or null. If it is unknown (undefined), every claim is accepted. */
  readonly issuer?: string | null;
}

export function checkOperatorsFile({
  OPERATORS_FILE,
  ADMIN_TOKEN,
  OPERATOR_ISSUER,
}: OperatorsVariables): ConfigProblem[] {
  if (OPERATORS_FILE === undefined) return [];
  const context = { adminToken: ADMIN_TOKEN, issuer: OPERATOR_ISSUER ?? null };
  return problemsOfLoading(() => parseOperatorsFile(readOperatorsFile(OPERATORS_FILE), context));
}

/** Throws a ConfigError if the file cannot be read. */
export function readOperatorsFile(path: string): string {
  return readTextFile(VARIABLE, path);
}

/** Parses an operators file (RG-111, RG-124). Throws a ConfigError with every invalid key and its line. */
export function parseOperatorsFile(
  text: string,
  { adminToken, issuer }: OperatorsContext = {},
): readonly ListedOperator[] {
  const adminSha256 = adminToken === undefined ? undefined : sha256Of(adminToken);
  const { operators } = parseYamlFile(VARIABLE, OperatorsFileShape, text, (read, shape) => [
    ...shape,
    ...ruleProblems(read, adminSha256, issuer),
  ]);
  return operators.map(listed);
}

export function sha256Of(token: string): string {
  return Bun.SHA256.hash(token, "hex");
}

function listed(entry: OperatorEntry): ListedOperator {
  const { name, role, services, paths, urls, token_sha256 = [], claims, expires_at } = entry;
  const unnamed = role === "admin" ? null : [];
  const bounds = { services: services ?? unnamed, paths: paths ?? unnamed, urls: urls ?? unnamed };
  const operator = { name, role, ...bounds };
  const tokens = token_sha256.map((token) => {
    const { sha256, expires_at: ends_at } = typeof token === "string" ? { sha256: token } : token;
    return { sha256, endsMs: earlier(ends_at, expires_at) };
  });
  const listedClaims = claims === undefined ? null : { pairs: Object.entries(claims) };
  return { operator, endsMs: earlier(expires_at), tokens, claims: listedClaims };
}

/** Returns the earliest of the times in milliseconds since the epoch, or null. */
function earlier(...times: (string | undefined)[]): number | null {
  const ends = times.flatMap((time) => {
    const instant = time === undefined ? null : parseTime(time);
    return instant === null ? [] : [instant.epochMilliseconds];
  });
  return ends.length === 0 ? null : Math.min(...ends);
}

/** Returns what the schema cannot express. */
function ruleProblems(
  value: unknown,
  adminSha256: string | undefined,
  issuer: string | null | undefined,
): FileProblem[] {
  const entries = entriesUnder("operators", value, OPERATORS_MAX);
  const claiming = entries.map(({ index, entry: { claims, expires_at } }) => ({
    index,
    claims,
    ends: expires_at !== undefined,
  }));
  return [
    ...entries.flatMap(({ index, entry }) => [
      ...credentialProblems(index, entry),
      ...boundProblems(index, entry),
      ...patternProblems(index, entry),
    ]),
    ...claimProblems(claiming, issuer),
    ...repetitions(entries, adminSha256),
  ];
}

function credentialProblems(index: number, { token_sha256, claims }: Record<string, unknown>): FileProblem[] {
  const path = ["operators", index];
  if (token_sha256 === undefined && claims === undefined) {
    return [problemAt(path, " has neither token_sha256 nor claims: add one of them")];
  }
  if (token_sha256 === undefined || claims === undefined) return [];
  const text = " has both token_sha256 and claims: keep one of them";
  return [problemAt(path, text, [...path, "claims"])];
}

/** A publisher needs `services` and `paths`, and keeps addresses without `urls`. No other role has a bound. */
function boundProblems(index: number, entry: Record<string, unknown>): FileProblem[] {
  const { role } = entry;
  if (!fits(OperatorRole, role)) return [];
  return (["services", "paths", "urls"] as const).flatMap((field) => {
    const path = ["operators", index, field];
    const isGiven = entry[field] !== undefined;
    if (role !== "publisher") {
      return isGiven ? [problemAt(path, ` is only for publishers: remove ${field}`)] : [];
    }
    if (isGiven || field === "urls") return [];
    return [problemAt(path, " is required for a publisher", ["operators", index])];
  });
}

function patternProblems(operator: number, { paths, urls }: Record<string, unknown>): FileProblem[] {
  const at = (field: string, index: number) => ["operators", operator, field, index];
  const wrongPaths = (fits(Paths, paths) ? paths : []).flatMap((prefix, index) => {
    const [violation] = pathPrefixViolations(prefix);
    return violation === undefined ? [] : problemAt(at("paths", index), `: ${violation.replace(/\.$/, "")}`);
  });
  const wrongUrls = (fits(Urls, urls) ? urls : []).flatMap((pattern, index) => {
    const violation = addressPatternViolation(pattern);
    return violation === null ? [] : problemAt(at("urls", index), ` ${violation}`);
  });
  return [...wrongPaths, ...wrongUrls];
}

function repetitions(
  entries: ReturnType<typeof entriesUnder>,
  adminSha256: string | undefined,
): FileProblem[] {
  const owners = new Map<string, string>();
  if (adminSha256 !== undefined) owners.set(adminSha256, "ADMIN_TOKEN");
  const names = new Set<unknown>();
  const found: FileProblem[] = [];
  for (const { index, entry } of entries) {
    const { name, token_sha256 } = entry;
    const path = ["operators", index];
    if (name === ADMIN_OPERATOR) {
      const text = ` is ${ADMIN_OPERATOR}, the operator of ADMIN_TOKEN: choose another name`;
      found.push(problemAt([...path, "name"], text));
    } else if (names.has(name) && fits(OperatorName, name)) {
      const text = ` is ${name}, the name of an earlier operator: choose another name`;
      found.push(problemAt([...path, "name"], text));
    }
    names.add(name);
    const tokens: unknown[] = Array.isArray(token_sha256) ? token_sha256.slice(0, TOKENS_MAX) : [];
    for (const [position, token] of tokens.entries()) {
      const sha256 = isRecord(token) ? token.sha256 : token;
      if (!fits(Sha256, sha256)) continue;
      const owner = owners.get(sha256);
      owners.set(sha256, shownPath(path));
      if (owner === undefined) continue;
      const text = ` is the token of ${owner}: give each operator its own token`;
      found.push(problemAt([...path, "token_sha256", position], text));
    }
  }
  return found;
}
