import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { areScopes, type ConfigProblem, isHttpBaseUrl, isVisible } from "@ostiary/lib/runtime/config";
import {
  entriesUnder,
  type FileProblem,
  parseYamlFile,
  problemAt,
  problemsOfLoading,
  readTextFile,
} from "@ostiary/lib/runtime/config/yaml-file";
import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { type BrandColors, unreadable } from "./brand-style.ts";

const VARIABLE = "PORTAL_BRAND_FILE";
const NAME_LENGTH_MAX = 64;
const LINK_LENGTH_MAX = 2_048;
const LOGO_BYTES_MAX = 131_072;
const ISSUERS_MAX = 10;

const color = (scheme: string) =>
  Type.Optional(
    Type.String({
      pattern: "^#[0-9A-Fa-f]{6}$",
      rule: `must be the color of the ${scheme} scheme, as #rrggbb`,
    }),
  );
const link = Type.Optional(
  Type.String({
    pattern: "^(?:https://|mailto:)[\\x21-\\x7e]+$",
    maxLength: LINK_LENGTH_MAX,
    rule: `must be an https:// or mailto: address of at most ${LINK_LENGTH_MAX} characters`,
  }),
);

const name = Type.String({
  pattern: "^[^\\x00-\\x20\\x7f-\\x9f](?:[^\\x00-\\x1f\\x7f-\\x9f]*[^\\x00-\\x20\\x7f-\\x9f])?$",
  maxLength: NAME_LENGTH_MAX,
  rule: `must be text of 1 to ${NAME_LENGTH_MAX} characters, without control characters or spaces around it`,
});

/** What {@link issuerProblems} checks in each text of an issuer. */
const ISSUER_RULES = {
  issuer: {
    check: (issuer: string) => isHttpBaseUrl(issuer) && !/[{}]/.test(issuer),
    rule: "must be the issuer of your identity provider, an http:// or https:// URL without query, fragment and braces",
  },
  client_id: {
    check: isVisible,
    rule: "must be the client id that the identity provider gave to the portal",
  },
  scopes: { check: areScopes, rule: "must be scopes separated by single spaces, including openid" },
} as const;

const Issuer = Type.Object(
  {
    name,
    issuer: Type.String({ maxLength: LINK_LENGTH_MAX, rule: ISSUER_RULES.issuer.rule }),
    client_id: Type.String({ rule: ISSUER_RULES.client_id.rule }),
    scopes: Type.Optional(Type.String({ rule: ISSUER_RULES.scopes.rule })),
  },
  { additionalProperties: false, rule: "must be a map with name, issuer and client_id" },
);

/** The content of the brand file (PT-5, PT-80). */
const BrandFile = Type.Object(
  {
    name,
    logo: Type.Optional(
      Type.String({ pattern: "\\.(?:svg|png)$", rule: "must be the path of an .svg or .png file" }),
    ),
    colors: Type.Optional(
      Type.Object({ accent: color("light"), accent_dark: color("dark") }, { additionalProperties: false }),
    ),
    links: Type.Optional(
      Type.Object({ support: link, terms: link, privacy: link }, { additionalProperties: false }),
    ),
    issuers: Type.Optional(
      Type.Array(Issuer, {
        minItems: 1,
        maxItems: ISSUERS_MAX,
        rule: `must be a list of 1 to ${ISSUERS_MAX} issuers`,
      }),
    ),
  },
  { additionalProperties: false },
);
type BrandFile = Static<typeof BrandFile>;

/** The name, logo, colors and links of the page, and the issuers that customers sign in at. */
export interface Brand {
  name: string;
  logo: { bytes: Buffer<ArrayBuffer>; type: string } | null;
  colors: BrandColors;
  links: NonNullable<BrandFile["links"]>;
  /** Empty if the variables name the issuer. */
  issuers: NonNullable<BrandFile["issuers"]>;
}

const OSTIARY: Brand = { name: "Customer portal", logo: null, colors: {}, links: {}, issuers: [] };

/**
 * Reads the brand file at `path`. Returns the default brand if no file is configured.
 *
 * @throws ConfigError with every problem and its line
 */
export function loadBrand(path: string | undefined): Brand {
  if (path === undefined) return OSTIARY;
  const {
    name,
    logo,
    colors = {},
    links = {},
    issuers = [],
  } = parseYamlFile(VARIABLE, BrandFile, readTextFile(VARIABLE, path), (read, shape) => [
    ...shape,
    ...(Value.Check(BrandFile, read) ? appearanceProblems(path, read) : []),
    ...issuerProblems(read),
  ]);
  const read = logo === undefined ? null : readLogo(path, logo);
  return { name, logo: read !== null && "logo" in read ? read.logo : null, colors, links, issuers };
}

/** Returns every problem of the brand file, for `loadConfig`. */
export function checkBrandFile({ PORTAL_BRAND_FILE: path }: { PORTAL_BRAND_FILE?: string }): ConfigProblem[] {
  return problemsOfLoading(() => loadBrand(path));
}

/** Returns a problem for each wrong text of an issuer, and for each issuer or name that an earlier entry has. */
function issuerProblems(value: unknown): FileProblem[] {
  const entries = entriesUnder("issuers", value, ISSUERS_MAX);
  return entries.flatMap(({ index, entry }, place) => {
    const problem = (field: string, text: string) => problemAt(["issuers", index, field], ` ${text}`);
    const wrong = Object.entries(ISSUER_RULES).flatMap(([field, { check, rule }]) => {
      const text = entry[field];
      return typeof text !== "string" || check(text) ? [] : [problem(field, rule)];
    });
    const repeated = ["name", "issuer"].flatMap((field) => {
      const first = entries.slice(0, place).find((earlier) => earlier.entry[field] === entry[field]);
      if (first === undefined || typeof entry[field] !== "string") return [];
      return [problem(field, `is that of issuers[${first.index}]: give each issuer its own`)];
    });
    return [...wrong, ...repeated];
  });
}

/** Returns a problem for each color with too little contrast, and for a logo that cannot be used. */
function appearanceProblems(path: string, { colors = {}, logo }: BrandFile): FileProblem[] {
  const read = logo === undefined ? null : readLogo(path, logo);
  const { accent, accent_dark } = colors;
  const found = {
    "colors.accent": accent === undefined ? null : unreadable(accent, false),
    "colors.accent_dark": accent_dark === undefined ? null : unreadable(accent_dark, true),
    logo: read !== null && "problem" in read ? read.problem : null,
  };
  return Object.entries(found).flatMap(([name, problem]) =>
    problem === null ? [] : [problemAt(name.split("."), ` ${problem}`)],
  );
}

const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

type LogoFile = { logo: NonNullable<Brand["logo"]> } | { problem: string };

/** Reads the logo, whose path is relative to the folder of the brand file. */
function readLogo(path: string, logo: string): LogoFile {
  const place = resolve(dirname(path), logo);
  const problem = (why: string) => ({ problem: `names ${place}, which ${why}` });
  const bytes = tryRead(place);
  if (bytes === null) return problem("cannot be read");
  if (bytes.length > LOGO_BYTES_MAX) return problem(`has more than ${LOGO_BYTES_MAX} bytes`);
  if (logo.endsWith(".png")) {
    const isPng = bytes.subarray(0, PNG.length).equals(PNG);
    return isPng ? { logo: { bytes, type: "image/png" } } : problem("is not a PNG");
  }
  const isSvg = /^\s*<(?:\?xml|!--|svg)/.test(bytes.toString("utf8"));
  return isSvg ? { logo: { bytes, type: "image/svg+xml" } } : problem("is not an SVG");
}

function tryRead(place: string): Buffer<ArrayBuffer> | null {
  try {
    return Buffer.from(readFileSync(place));
  } catch {
    return null;
  }
}
