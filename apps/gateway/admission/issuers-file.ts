import { SUBJECT_LENGTH_MAX } from "@ostiary/lib/contracts/admission";
import { fits } from "@ostiary/lib/domain/errors";
import { type ConfigProblem, isHttpUrl } from "@ostiary/lib/runtime/config";
import {
  entriesUnder,
  type FileProblem,
  parseYamlFile,
  problemsOfLoading,
  readTextFile,
} from "@ostiary/lib/runtime/config/yaml-file";
import {
  TENANT_CHARACTERS,
  TENANT_LENGTH_MAX,
  TENANT_PLACE,
  type TokenIssuer,
} from "@ostiary/lib/runtime/tokens";
import { Type } from "@sinclair/typebox";
import { type AdmissionConfig, CLAIM_PATH } from "./config.ts";

const VARIABLE = "AUTH_ISSUERS_FILE";
const ISSUERS_MAX = 100;
const AUDIENCES_MAX = 100;
const TENANTS_MAX = 10_000;
/** Identity refuses longer issuers. The longest template leaves room for the longest id of a tenant. */
const TEMPLATE_LENGTH_MAX = SUBJECT_LENGTH_MAX - TENANT_LENGTH_MAX;

const Issuer = Type.String({
  pattern: `^[\\x21-\\x7e]{1,${SUBJECT_LENGTH_MAX}}$`,
  rule: `must be the exact iss of the tokens: 1 to ${SUBJECT_LENGTH_MAX} visible ASCII characters, without spaces`,
});
const Tenant = Type.String({
  pattern: `^${TENANT_CHARACTERS}{1,${TENANT_LENGTH_MAX}}$`,
  rule: `must be a tenant's id: 1 to ${TENANT_LENGTH_MAX} letters, digits, dots, hyphens and underscores, in quotes`,
});
const TENANTS_RULE = `must be any, or a list of 1 to ${TENANTS_MAX} different ids of tenants`;
const Tenants = Type.Union(
  [
    Type.Literal("any"),
    Type.Array(Tenant, { minItems: 1, maxItems: TENANTS_MAX, uniqueItems: true, rule: TENANTS_RULE }),
  ],
  { rule: TENANTS_RULE },
);

const URL_RULE = "must be an absolute http:// or https:// URL";

const IssuerEntry = Type.Object(
  {
    issuer: Issuer,
    jwks_uri: Type.String({ rule: URL_RULE }),
    audiences: Type.Array(
      Type.String({ pattern: "^\\S(.{0,510}\\S)?$", rule: "must be an audience of 1 to 512 characters" }),
      {
        maxItems: AUDIENCES_MAX,
        uniqueItems: true,
        rule: `must be a list of at most ${AUDIENCES_MAX} different audiences; [] turns the check off`,
      },
    ),
    user_id_claim: Type.String({ pattern: CLAIM_PATH.pattern, maxLength: 256, rule: CLAIM_PATH.rule }),
    tenants: Type.Optional(Tenants),
  },
  {
    additionalProperties: false,
    rule: "must be a map with issuer, jwks_uri, audiences and user_id_claim",
  },
);

const IssuersFileShape = Type.Object(
  {
    issuers: Type.Array(IssuerEntry, {
      minItems: 1,
      maxItems: ISSUERS_MAX,
      rule: `must be a list of 1 to ${ISSUERS_MAX} issuers`,
    }),
  },
  { additionalProperties: false, rule: "must be a map with the key issuers" },
);

export interface ListedIssuer extends Omit<TokenIssuer, "keySet"> {
  readonly jwks_uri: string;
}

const SINGLE = ["AUTH_ISSUER", "AUTH_JWKS_URI", "AUTH_ALLOWED_AUDIENCES", "AUTH_USER_ID_CLAIM"] as const;

const TEMPLATE_ALONE: ConfigProblem = {
  variable: "AUTH_ISSUER",
  message: `contains ${TENANT_PLACE}: list the issuer in ${VARIABLE}, with its tenants.`,
};

/** Checks AUTH_ISSUERS_FILE, and that the variables of a single issuer are unset if the file is set (GW-230). */
export function checkIssuersFile(config: Partial<AdmissionConfig>): ConfigProblem[] {
  const { AUTH_ISSUERS_FILE: file, AUTH_ISSUER } = config;
  if (file === undefined) return AUTH_ISSUER?.includes(TENANT_PLACE) ? [TEMPLATE_ALONE] : [];
  return [
    ...SINGLE.filter((variable) => config[variable] !== undefined).map((variable) => ({
      variable,
      message: `and ${VARIABLE} are both set: keep one of them.`,
    })),
    ...problemsOfLoading(() => loadIssuersFile(file)),
  ];
}

/** Reads an issuers file (GW-230). Throws a ConfigError with every invalid key and its line. */
export function loadIssuersFile(path: string): ListedIssuer[] {
  const { issuers } = parseYamlFile(
    VARIABLE,
    IssuersFileShape,
    readTextFile(VARIABLE, path),
    (read, shape) => [
      ...shape,
      ...entriesUnder("issuers", read, ISSUERS_MAX).flatMap(({ index, entry }) =>
        entryProblems(index, entry),
      ),
      ...overlaps(read),
    ],
  );
  return issuers.map(({ user_id_claim, tenants = null, ...rest }) => ({
    ...rest,
    subjectPath: user_id_claim.split("."),
    tenants: Array.isArray(tenants) ? new Set(tenants) : tenants,
  }));
}

/** Returns the problems of one entry that the schema cannot express. */
function entryProblems(index: number, entry: Record<string, unknown>): FileProblem[] {
  const { issuer, jwks_uri, audiences, tenants } = entry;
  const problem = (field: string, message: string): FileProblem => ({
    path: field in entry ? ["issuers", index, field] : ["issuers", index],
    message: `issuers[${index}].${field} ${message}`,
  });
  const found: FileProblem[] = [];
  if (typeof jwks_uri === "string" && !isHttpUrl(jwks_uri)) found.push(problem("jwks_uri", URL_RULE));
  if (!fits(Issuer, issuer)) return found;
  const [before = "", after, ...more] = issuer.split(TENANT_PLACE);
  if (more.length > 0 || /[{}]/.test(before + (after ?? ""))) {
    found.push(problem("issuer", `may contain ${TENANT_PLACE} once, and no other braces`));
  }
  const isTemplate = after !== undefined;
  if (!isTemplate && tenants !== undefined) {
    found.push(problem("tenants", `is only for an issuer with ${TENANT_PLACE}: remove tenants`));
  }
  if (!isTemplate) return found;
  if (issuer.length > TEMPLATE_LENGTH_MAX) {
    found.push(problem("issuer", `must have at most ${TEMPLATE_LENGTH_MAX} characters with ${TENANT_PLACE}`));
  }
  if (tenants === undefined) {
    const message = `is required for an issuer with ${TENANT_PLACE}: list the ids of the tenants, or write any`;
    found.push(problem("tenants", message));
  }
  if (Array.isArray(tenants) && tenants.includes("any")) {
    found.push(problem("tenants", "lists any, which is no tenant's id: write `tenants: any`, or list ids"));
  }
  if (Array.isArray(audiences) && audiences.length === 0) {
    const message = `must name an audience for an issuer with ${TENANT_PLACE}: every application of a tenant gets tokens`;
    found.push(problem("audiences", message));
  }
  return found;
}

/** Returns a problem for each issuer that a token of an earlier entry can name too. */
function overlaps(value: unknown): FileProblem[] {
  const listed = entriesUnder("issuers", value, ISSUERS_MAX).flatMap(({ index, entry: { issuer } }) =>
    fits(Issuer, issuer) ? [{ index, issuer }] : [],
  );
  return listed.flatMap(({ index, issuer }, place) => {
    const first = listed.slice(0, place).find((earlier) => mayBeSame(earlier.issuer, issuer));
    if (first === undefined) return [];
    const message = `issuers[${index}].issuer can be the iss of the same tokens as issuers[${first.index}].issuer: keep one of the two`;
    return [{ path: ["issuers", index, "issuer"], message }];
  });
}

const TENANT_PART = new RegExp(`^${TENANT_CHARACTERS}*$`);

/** Returns whether one `iss` can match both issuers, each exact or a template. */
function mayBeSame(one: string, other: string): boolean {
  const [start = "", end] = one.split(TENANT_PLACE);
  const [otherStart = "", otherEnd] = other.split(TENANT_PLACE);
  if (end === undefined && otherEnd === undefined) return one === other;
  if (end === undefined) return mayBeSame(other, one);
  if (otherEnd === undefined) {
    const tenant = other.slice(start.length, other.length - end.length);
    return tenant !== "" && start + tenant + end === other && TENANT_PART.test(tenant);
  }
  // Where one template has more text than the other, that text must be part of the other's tenant id.
  const [short = "", long = ""] =
    start.length < otherStart.length ? [start, otherStart] : [otherStart, start];
  const [brief = "", lengthy = ""] = end.length < otherEnd.length ? [end, otherEnd] : [otherEnd, end];
  return (
    long.startsWith(short) &&
    TENANT_PART.test(long.slice(short.length)) &&
    lengthy.endsWith(brief) &&
    TENANT_PART.test(lengthy.slice(0, lengthy.length - brief.length))
  );
}
