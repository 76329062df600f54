import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { isRecord } from "../../domain/json/index.ts";
import { EVERY_LABEL } from "../../domain/routes/index.ts";
import type { ConfigProblem } from "./load.ts";
import { optionalText } from "./variables.ts";
import { type FileProblem, parseYamlFile, problemsOfLoading, readTextFile } from "./yaml-file.ts";

const VARIABLE = "ROLES_FILE";

/** The content of the roles file, read at boot (ID-70). */
export interface RolesFile {
  readonly roles: ReadonlyMap<string, readonly string[]>;
  readonly creator_role: string;
  readonly default_role: string;
  readonly service_account_default_role?: string;
}

export function rolesFileVariable(description: string) {
  return optionalText("must be the path of a roles file", { description });
}

export function checkRolesFile({ ROLES_FILE }: { ROLES_FILE?: string }): ConfigProblem[] {
  return ROLES_FILE === undefined ? [] : problemsOfLoading(() => loadRolesFile(ROLES_FILE));
}

const SLUG = "^[a-z0-9:._-]{1,64}$";
const SLUG_PATTERN = new RegExp(SLUG);
const LABELS_MAX = 64;
const SLUG_RULE = "must be 1 to 64 characters: a-z, 0-9, colon, dot, underscore and hyphen";

const Label = Type.Union([Type.Literal(EVERY_LABEL), Type.String({ pattern: SLUG })], { rule: SLUG_RULE });
const Labels = Type.Array(Label, {
  maxItems: LABELS_MAX,
  rule: `must be a list of at most ${LABELS_MAX} labels`,
});
const Slug = Type.String({ pattern: SLUG, rule: "must be the slug of a role under roles" });

const RolesFileShape = Type.Object(
  {
    roles: Type.Record(Type.String({ pattern: SLUG }), Labels, {
      additionalProperties: false,
      minProperties: 1,
      rule: "must map at least one slug to its labels",
    }),
    creator_role: Slug,
    default_role: Slug,
    service_account_default_role: Type.Optional(Slug),
  },
  { additionalProperties: false, rule: "must be a map with roles, creator_role and default_role" },
);

/** Reads the roles file (ID-70). Throws a ConfigError with every invalid key and its line. */
export function loadRolesFile(path: string): RolesFile {
  return parseRolesFile(readTextFile(VARIABLE, path));
}

export function parseRolesFile(text: string): RolesFile {
  const file = parseYamlFile(VARIABLE, RolesFileShape, text, (read, shape) => [
    // `slugProblems` reports an invalid slug itself.
    ...shape.filter(
      ({ path: [top, slug] }) => top !== "roles" || slug === undefined || SLUG_PATTERN.test(String(slug)),
    ),
    ...ruleProblems(read),
  ]);
  return { ...file, roles: new Map(Object.entries(file.roles)) };
}

/** Returns the problems that the schema cannot express, and skips parts that do not match the schema. */
function ruleProblems(value: unknown): FileProblem[] {
  if (!isRecord(value) || !isRecord(value.roles)) return [];
  const { roles } = value;
  if (Object.keys(roles).length === 0) return [];
  return [
    ...Object.keys(roles).flatMap(slugProblems),
    ...Object.entries(roles).flatMap(([slug, labels]) =>
      Value.Check(Labels, labels) ? labelProblems(slug, labels) : [],
    ),
    ...["creator_role", "default_role", "service_account_default_role"].flatMap((key) => {
      const slug = value[key];
      if (!Value.Check(Slug, slug) || Object.hasOwn(roles, slug)) return [];
      return [{ path: [key], message: `${key} names ${slug}, which is not a role under roles` }];
    }),
  ];
}

function slugProblems(slug: string): FileProblem[] {
  if (SLUG_PATTERN.test(slug)) return [];
  return [{ path: ["roles", slug], message: `the slug ${JSON.stringify(slug)} ${SLUG_RULE}` }];
}

function labelProblems(slug: string, labels: readonly string[]): FileProblem[] {
  const repeated = labels.flatMap((label, index) =>
    labels.indexOf(label) === index
      ? []
      : [{ path: ["roles", slug, index], message: `roles.${slug} lists ${label} twice` }],
  );
  if (!labels.includes(EVERY_LABEL) || labels.length === 1) return repeated;
  const alone = `roles.${slug} lists * with other labels: remove the others, because * grants every label`;
  return [...repeated, { path: ["roles", slug, labels.indexOf(EVERY_LABEL)], message: alone }];
}
