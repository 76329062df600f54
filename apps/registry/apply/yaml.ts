/**
 * YAML as operators write it, and nothing more: one document of maps, lists and scalars (contract 3). What
 * could cost more than its bytes is bounded before it is built: tokens, depth, aliases. No custom tags, no
 * merge keys, every key once.
 */
import { Composer, type CST, type Document, isScalar, Lexer, type ParsedNode, Parser, visit } from "yaml";
import { placeOf as at, malformed } from "./malformed.ts";
import { yamlReason } from "./yaml-reason.ts";

/** A document of 10 000 routes has about 400 000. */
const TOKENS_MAX = 1_000_000;
/** A configuration document needs 12. */
const DEPTH_MAX = 64;
const ALIASES_MAX = 100;
/** What aliases may make of a document, in values: more than its tokens could hold without them. */
const VALUES_MAX = 1_000_000;

const SEVERAL_DOCUMENTS = "The body holds several YAML documents: send one.";

const OPTIONS = {
  version: "1.2",
  schema: "core",
  merge: false,
  resolveKnownTags: false,
  stringKeys: true,
  // checked here instead, since the library compares each key of a map with all others
  uniqueKeys: false,
  prettyErrors: false,
  logLevel: "silent",
} as const;

/** Parses `text`; 422 says what is not accepted, and where. */
export function parseYaml(text: string): unknown {
  refuseUnprintable(text);
  const documents = new Composer(OPTIONS).compose(boundedTokens(text), true, text.length);
  const [document, ...others] = documents;
  if (document === undefined) throw malformed("The body is empty.");
  if (others.length > 0) throw malformed(SEVERAL_DOCUMENTS);
  refuseFaults(document, text);
  refuseDuplicateKeys(document, text);
  const value = toValue(document);
  refuseExpansion(value);
  return value;
}

/** What YAML lets nobody write but as an escape, and a line break that the library does not take for one. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const UNPRINTABLE = /[\0-\x08\v\f\x0e-\x1f\x7f-\x84\x86-\x9f\ufffe\uffff]|(?!^)\ufeff|\r(?!\n)/;

function refuseUnprintable(text: string): void {
  const found = UNPRINTABLE.exec(text);
  if (found === null) return;
  const code = found[0].charCodeAt(0).toString(16).toUpperCase().padStart(4, "0");
  throw malformed(
    `The YAML is not valid${at(found.index, text)}: U+${code} can stand in double quotes only, as an escape.`,
  );
}

/** The tokens of `text`, refused as soon as there are too many, they nest too deeply, or one is an error. */
function* boundedTokens(text: string): Generator<CST.Token> {
  const parser = new Parser();
  const seen: Seen = { version: false, document: false };
  let count = 0;
  for (const lexeme of new Lexer().lex(text)) {
    count += 1;
    if (count > TOKENS_MAX) throw malformed("The YAML is too large: split it, or send it as JSON.");
    for (const token of parser.next(lexeme)) yield accepted(token, seen, text);
    if (parser.stack.length > DEPTH_MAX)
      throw malformed(`The YAML is nested too deeply${at(parser.offset, text)}.`);
  }
  for (const token of parser.end()) yield accepted(token, seen, text);
}

/** What came before a token. */
interface Seen {
  version: boolean;
  document: boolean;
}

/** A higher minor version is to be read as if it were ours, another major one to be refused (YAML 1.2, 6.8.1). */
const VERSION = /^%YAML[ \t]+1\.\d+[ \t]*$/;

function accepted(token: CST.Token, seen: Seen, text: string): CST.Token {
  if (token.type === "error") {
    const reason = yamlReason({ code: "UNEXPECTED_TOKEN", message: token.message });
    throw malformed(`The YAML is not valid${at(token.offset, text)}: ${reason}`);
  }
  if (token.type === "document") seen.document = true;
  if (token.type === "directive") {
    const place = at(token.offset, text);
    if (seen.document) throw malformed(SEVERAL_DOCUMENTS);
    if (!/^%YAML\b/.test(token.source)) throw malformed(`Directives such as %TAG are not accepted${place}.`);
    if (seen.version) throw malformed(`The YAML is not valid${place}: %YAML is given twice.`);
    if (!VERSION.test(token.source)) throw malformed(`The YAML is not valid${place}: write %YAML 1.2.`);
    seen.version = true;
  }
  return token;
}

type YamlDocument = Document.Parsed<ParsedNode, boolean> | Document<ParsedNode, boolean>;

function refuseFaults({ errors, warnings }: YamlDocument, text: string): void {
  const [error] = errors;
  if (error?.code === "NON_STRING_KEY") throw malformed(`A key must be a string${at(error.pos[0], text)}.`);
  if (error !== undefined) {
    throw malformed(`The YAML is not valid${at(error.pos[0], text)}: ${yamlReason(error)}`);
  }
  const [warning] = warnings;
  if (warning?.code === "TAG_RESOLVE_FAILED") {
    throw malformed(`Tags of your own are not accepted${at(warning.pos[0], text)}.`);
  }
}

function refuseDuplicateKeys(document: YamlDocument, text: string): void {
  visit(document, {
    Map(_, map) {
      const keys = new Set<unknown>();
      for (const { key } of map.items) {
        const name = isScalar(key) ? key.value : key;
        const start = isScalar(key) ? key.range?.[0] : undefined;
        if (keys.has(name)) throw malformed(`A key is given twice in one map${at(start, text)}.`);
        keys.add(name);
      }
    },
  });
}

function toValue(document: YamlDocument): unknown {
  try {
    return document.toJS({ maxAliasCount: ALIASES_MAX });
  } catch (error) {
    if (!(error instanceof ReferenceError)) throw error;
    throw malformed("The YAML uses too many aliases, or one whose anchor does not come before it.");
  }
}

/** Refuses a value that is, through aliases, larger or deeper than any document, or contains itself. */
function refuseExpansion(value: unknown): void {
  let values = 0;
  const count = (part: unknown, depth: number): void => {
    values += 1;
    if (values > VALUES_MAX || depth > DEPTH_MAX) {
      throw malformed("The aliases of the YAML expand to too much: write it out, or send it as JSON.");
    }
    if (typeof part !== "object" || part === null) return;
    for (const member of Object.values(part)) count(member, depth + 1);
  };
  count(value, 0);
}
