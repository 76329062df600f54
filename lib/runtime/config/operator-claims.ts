import { type Static, Type } from "@sinclair/typebox";
import { type FieldPath, fits, joinWords } from "../../domain/errors/index.ts";
import { type FileProblem, problemAt } from "./yaml-file.ts";

const CLAIMS_MAX = 8;
const VALUE_LENGTH_MAX = 512;

const ClaimValue = Type.String({
  pattern: `^[^\\x00-\\x1f\\x7f]{1,${VALUE_LENGTH_MAX}}$`,
  rule: `must be text of 1 to ${VALUE_LENGTH_MAX} characters; write numbers, true, false and null in quotes`,
});

/** A token must have all claims of the operator, with exactly these values (RG-124). */
export const OperatorClaims = Type.Record(Type.String(), ClaimValue, {
  minProperties: 1,
  maxProperties: CLAIMS_MAX,
  rule: `must be a map of 1 to ${CLAIMS_MAX} claims, each a name and a value`,
});
export type OperatorClaims = Static<typeof OperatorClaims>;

const CLAIM_NAME = /^[\x21-\x7e]{1,256}$/;

/** Claims that every accepted token has, or that do not identify its holder. */
const SAME_FOR_ALL: ReadonlySet<string> = new Set(["iss", "aud", "azp", "exp", "nbf", "iat", "jti", "typ"]);

/** Issuers that give tokens to everybody, each with the claims that identify the holder of a token. */
const OPEN_ISSUERS: Readonly<Record<string, readonly string[]>> = {
  "https://token.actions.githubusercontent.com":
    "repository repository_id repository_owner repository_owner_id sub".split(" "),
  "https://gitlab.com": "project_path project_id namespace_path namespace_id groups_direct sub".split(" "),
  "https://accounts.google.com": ["sub", "email", "hd"],
};

interface ClaimingEntry {
  readonly index: number;
  readonly claims: unknown;
  /** Whether the operator expires, so that a later one with the same claims can take over. */
  readonly ends: boolean;
}

/** Returns what the schema cannot express. `issuer` is null if none is configured, undefined if unknown. */
export function claimProblems(
  entries: readonly ClaimingEntry[],
  issuer: string | null | undefined,
): FileProblem[] {
  const claiming = entries.flatMap(({ index, claims, ends }) =>
    fits(OperatorClaims, claims) ? [{ index, claims, ends }] : [],
  );
  return [
    ...claiming.flatMap(({ index, claims }) => ownProblems(index, claims, issuer)),
    ...claiming.flatMap((entry, place) => shadowProblems(entry, claiming.slice(0, place))),
  ];
}

function ownProblems(
  index: number,
  claims: OperatorClaims,
  issuer: string | null | undefined,
): FileProblem[] {
  const path = ["operators", index, "claims"];
  const problems = Object.entries(claims).flatMap(([name, value]) => pairProblem(path, name, value) ?? []);
  if (issuer === null) {
    const text = " needs OPERATOR_ISSUER, OPERATOR_JWKS_URI and OPERATOR_AUDIENCE: set the three variables";
    return [...problems, problemAt(path, text)];
  }
  const holders = issuer === undefined ? undefined : OPEN_ISSUERS[issuer];
  if (holders === undefined || holders.some((name) => Object.hasOwn(claims, name))) return problems;
  const text = ` must have at least one of the claims ${joinWords(holders)}: everybody can get tokens of OPERATOR_ISSUER`;
  return [...problems, problemAt(path, text)];
}

function pairProblem(claims: FieldPath, name: string, value: string): FileProblem | null {
  const path = [...claims, name];
  if (!CLAIM_NAME.test(name)) {
    const { message } = problemAt(claims, " must have names of 1 to 256 visible ASCII characters");
    return { path, message };
  }
  if (SAME_FOR_ALL.has(name)) {
    return problemAt(path, " does not identify an operator: use another claim, such as sub or groups");
  }
  return value.includes("*")
    ? problemAt(path, " contains *, which is not a wildcard in claims: write the whole value")
    : null;
}

interface Claiming extends ClaimingEntry {
  readonly claims: OperatorClaims;
}

/** Returns a problem if every token with these claims also matches an earlier operator (RG-126). */
function shadowProblems({ index, claims }: Claiming, earlier: readonly Claiming[]): FileProblem[] {
  const first = earlier.find(
    (each) =>
      !each.ends &&
      Object.entries(each.claims).every(
        ([name, value]) => Object.hasOwn(claims, name) && claims[name] === value,
      ),
  );
  if (first === undefined) return [];
  const message = `operators[${index}] is never used, because its tokens also match operators[${first.index}], which comes first: put the operator with more claims first, or change the claims`;
  return [{ path: ["operators", index, "claims"], message }];
}
