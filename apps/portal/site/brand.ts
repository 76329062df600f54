import { readFileSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { ConfigError, type ConfigProblem } from "@ostiary/lib/runtime/config";
import { type FileProblem, parseYamlFile, problemsOfLoading } from "@ostiary/lib/runtime/config/yaml-file";
import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { type BrandColors, unreadable } from "./brand-style.ts";

const VARIABLE = "PORTAL_BRAND_FILE";
const NAME_LENGTH_MAX = 64;
const LINK_LENGTH_MAX = 2_048;
const LOGO_BYTES_MAX = 131_072;
const FILE_BYTES_MAX = 65_536;

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

/** The content of the brand file (PT-5). */
const BrandFile = Type.Object(
  {
    name: Type.String({
      pattern: "^[^\\x00-\\x20\\x7f-\\x9f](?:[^\\x00-\\x1f\\x7f-\\x9f]*[^\\x00-\\x20\\x7f-\\x9f])?$",
      maxLength: NAME_LENGTH_MAX,
      rule: `must be text of 1 to ${NAME_LENGTH_MAX} characters, without control characters or spaces around it`,
    }),
    logo: Type.Optional(
      Type.String({ pattern: "\\.(?:svg|png)$", rule: "must be the path of an .svg or .png file" }),
    ),
    colors: Type.Optional(
      Type.Object({ accent: color("light"), accent_dark: color("dark") }, { additionalProperties: false }),
    ),
    links: Type.Optional(
      Type.Object({ support: link, terms: link, privacy: link }, { additionalProperties: false }),
    ),
  },
  { additionalProperties: false },
);
type BrandFile = Static<typeof BrandFile>;

/** The name, logo, colors and links of the page. */
export interface Brand {
  name: string;
  logo: { bytes: Buffer<ArrayBuffer>; type: string } | null;
  colors: BrandColors;
  links: NonNullable<BrandFile["links"]>;
}

const OSTIARY: Brand = { name: "Customer portal", logo: null, colors: {}, links: {} };

/**
 * Reads the brand file at `path`. Returns the default brand if no file is configured.
 *
 * @throws ConfigError with every problem and its line
 */
export function loadBrand(path: string | undefined): Brand {
  if (path === undefined) return OSTIARY;
  const text = readSmall(path, FILE_BYTES_MAX).toString("utf8");
  const {
    name,
    logo,
    colors = {},
    links = {},
  } = parseYamlFile(VARIABLE, BrandFile, text, (read, shape) => [
    ...shape,
    ...colorProblems(read),
    ...logoProblems(path, read),
  ]);
  return { name, logo: logo === undefined ? null : readLogo(path, logo), colors, links };
}

/** Returns every problem of the brand file, for `loadConfig`. */
export function checkBrandFile({ PORTAL_BRAND_FILE: path }: { PORTAL_BRAND_FILE?: string }): ConfigProblem[] {
  return problemsOfLoading(() => loadBrand(path));
}

class Unreadable extends ConfigError {
  readonly reason: string;

  constructor(reason: string) {
    super([{ variable: VARIABLE, message: `${reason}.` }]);
    this.reason = reason;
  }
}

function readSmall(path: string, bytesMax: number): Buffer<ArrayBuffer> {
  try {
    const found = statSync(path);
    if (found.isFile() && found.size > bytesMax) {
      throw new Unreadable(`names ${path}, which has more than ${bytesMax} bytes`);
    }
    return Buffer.from(readFileSync(path));
  } catch (error) {
    if (error instanceof Unreadable) throw error;
    throw new Unreadable(`names ${path}, which cannot be read`);
  }
}

/** Returns a problem for each color with too little contrast. */
function colorProblems(value: unknown): FileProblem[] {
  return (["accent", "accent_dark"] as const).flatMap((name) => {
    const given = Value.Check(BrandFile, value) ? value.colors?.[name] : undefined;
    const problem = given === undefined ? null : unreadable(given, name === "accent_dark");
    return problem === null ? [] : [{ path: ["colors", name], message: `colors.${name} ${problem}` }];
  });
}

function logoProblems(path: string, value: unknown): FileProblem[] {
  if (!Value.Check(BrandFile, value) || value.logo === undefined) return [];
  try {
    readLogo(path, value.logo);
    return [];
  } catch (error) {
    const message = error instanceof Unreadable ? `logo ${error.reason}` : "logo cannot be read";
    return [{ path: ["logo"], message }];
  }
}

/** The signature at the start of a PNG file. */
const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

/** Reads the logo, whose path is relative to the folder of the brand file. */
function readLogo(path: string, logo: string): NonNullable<Brand["logo"]> {
  const place = resolve(dirname(path), logo);
  const bytes = readSmall(place, LOGO_BYTES_MAX);
  if (logo.endsWith(".png")) {
    if (!bytes.subarray(0, PNG.length).equals(PNG))
      throw new Unreadable(`names ${place}, which is not a PNG`);
    return { bytes, type: "image/png" };
  }
  if (!/^\s*<(?:\?xml|!--|svg)/.test(bytes.toString("utf8"))) {
    throw new Unreadable(`names ${place}, which is not an SVG`);
  }
  return { bytes, type: "image/svg+xml" };
}
