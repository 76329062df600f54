import { readFileSync } from "node:fs";
import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { type Document, isMap, isNode, LineCounter, parseDocument, visit } from "yaml";
import { FIELD_ERRORS_MAX, violationsOf } from "../../domain/errors/index.ts";
import { isRecord } from "../../domain/json/index.ts";
import { EVERY_LABEL } from "../../domain/routes/index.ts";
import { ConfigError, type ConfigProblem } from "./load.ts";
import { optionalText } from "./variables.ts";

/** The content of the roles file, read at boot (ID-70). */
export interface RolesFile {
  /** The labels of each role, by slug. */
  readonly roles: ReadonlyMap<string, readonly string[]>;
  readonly creator_role: string;
  readonly default_role: string;
  readonly service_account_default_role?: string;
}

/** Returns the schema of the variable that names the file. */
export function rolesFileVariable(description: string) {
  return optionalText("must be the path of a roles file", { description });
}

/** Checks the roles file for `loadConfig` and returns every problem. */
export function checkRolesFile({ ROLES_FILE }: { ROLES_FILE?: string }): ConfigProblem[] {
  if (ROLES_FILE === undefined) return [];
  try {
    loadRolesFile(ROLES_FILE);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return [...error.problems];
    throw error;
  }
}

const SLUG = "^[a-z0-9:._-]{1,64}$";
const SLUG_PATTERN = new RegExp(SLUG);
const LABELS_MAX = 64;
const SLUG_RULE = "must be 1 to 64 of a-z, 0-9, colon, dot, underscore and hyphen";

const Label = Type.Union([Type.Literal(EVERY_LABEL), Type.String({ pattern: SLUG })], { rule: SLUG_RULE });
const Labels = Type.Array(Label, {
  maxItems: LABELS_MAX,
  rule: `must be a list of at most ${LABELS_MAX} labels`,
});
const Slug = Type.String({ pattern: SLUG, rule: "must be a slug of roles" });

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

/** A problem of a roles file. `path` leads from the top to the wrong key. */
interface Problem {
  path: (string | number)[];
  message: string;
}

/**
 * Reads and checks the roles file at `path` (ID-70).
 *
 * @throws ConfigError that names every wrong key with its line; the service must then not start.
 */
export function loadRolesFile(path: string): RolesFile {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch {
    throw refusal([`names ${path}, which cannot be read`]);
  }
  return parseRolesFile(text);
}

/** Parses the text of a roles file; see {@link loadRolesFile}. */
export function parseRolesFile(text: string): RolesFile {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, uniqueKeys: true, stringKeys: true });
  const flaws = [...document.errors, ...document.warnings];
  const found = flaws.map(({ pos, code }) => `line ${lines.linePos(pos[0]).line}: ${yamlFlaw(code)}`);
  // Malformed YAML has no shape to check. A duplicate key does not hinder the other checks.
  if (flaws.some(({ code }) => code !== "DUPLICATE_KEY")) throw refusal(found);
  const value: unknown = plainValue(document, lines);
  for (const { path, message } of [...shapeProblems(value), ...ruleProblems(value)]) {
    found.push(`line ${lineOf(document, lines, path)}: ${message}`);
  }
  if (found.length > 0) throw refusal(found);
  return rolesFileOf(Value.Decode(RolesFileShape, value));
}

function plainValue(document: Document, lines: LineCounter): unknown {
  try {
    return document.toJS();
  } catch {
    const unresolved = unresolvedAliases(document, lines);
    throw refusal(unresolved.length > 0 ? unresolved : ["has aliases that expand without bound"]);
  }
}

/** Returns a problem for each alias that no anchor before it defines. */
function unresolvedAliases(document: Document, lines: LineCounter): string[] {
  const found: string[] = [];
  visit(document, {
    Alias(_key, alias) {
      if (alias.resolve(document) !== undefined) return;
      const { line } = lines.linePos(alias.range?.[0] ?? 0);
      found.push(`line ${line}: the alias *${alias.source} has no anchor &${alias.source} before it`);
    },
  });
  return found;
}

function rolesFileOf(value: Static<typeof RolesFileShape>): RolesFile {
  return { ...value, roles: new Map(Object.entries(value.roles)) };
}

/** Returns the schema's problems, except those below a wrong slug, which the rules report. */
function shapeProblems(value: unknown): Problem[] {
  return violationsOf(RolesFileShape, value)
    .all.filter(({ path: [top, slug] }) => {
      return top !== "roles" || slug === undefined || SLUG_PATTERN.test(String(slug));
    })
    .map(({ path, message }) => ({
      path: [...path],
      message: message.replace(/^The body/, "The file").replace(/\.$/, ""),
    }));
}

/** Returns the problems that the schema cannot express, for the parts that fit it. One start reports both. */
function ruleProblems(value: unknown): Problem[] {
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
      return [{ path: [key], message: `${key} names ${slug}, which is not a slug of roles` }];
    }),
  ];
}

function slugProblems(slug: string): Problem[] {
  if (SLUG_PATTERN.test(slug)) return [];
  return [{ path: ["roles", slug], message: `the slug ${JSON.stringify(slug)} ${SLUG_RULE}` }];
}

function labelProblems(slug: string, labels: readonly string[]): Problem[] {
  const repeated = labels.flatMap((label, index) =>
    labels.indexOf(label) === index
      ? []
      : [{ path: ["roles", slug, index], message: `roles.${slug} lists ${label} twice` }],
  );
  if (!labels.includes(EVERY_LABEL) || labels.length === 1) return repeated;
  const alone = `roles.${slug} lists * beside other labels; * grants every label and stands alone`;
  return [...repeated, { path: ["roles", slug, labels.indexOf(EVERY_LABEL)], message: alone }];
}

/** Returns the line of the key at the end of `path`, or of the nearest existing key above it. */
function lineOf(document: Document, lines: LineCounter, path: (string | number)[]): number {
  for (let length = path.length; length > 0; length--) {
    const parent = document.getIn(path.slice(0, length - 1), true);
    const last = path[length - 1];
    const pair = isMap(parent) ? parent.items.find(({ key }) => String(key) === String(last)) : undefined;
    const node = pair?.key ?? document.getIn(path.slice(0, length), true);
    if (isNode(node) && node.range) return lines.linePos(node.range[0]).line;
  }
  return 1;
}

/** Returns a message of our own for a finding of the parser. */
function yamlFlaw(code: string): string {
  return code === "DUPLICATE_KEY" ? "the same key twice in one map" : "not valid YAML";
}

/**
 * Returns an error with each message once, at most a hundred. One unclosed bracket causes a finding on every
 * line below it.
 */
function refusal(messages: string[]): ConfigError {
  const told = [...new Set(messages)].slice(0, FIELD_ERRORS_MAX);
  return new ConfigError(told.map((message) => ({ variable: "ROLES_FILE", message: `${message}.` })));
}
