import {
  type AliasEvent,
  boolCoreTag,
  EVENT_ID,
  type Event,
  floatCoreTag,
  getScalarValue,
  intCoreTag,
  type MappingEvent,
  NOT_RESOLVED,
  nullCoreTag,
  SCALAR_STYLE,
  type ScalarEvent,
  type SequenceEvent,
} from "js-yaml";
import { JSON_DEPTH_MAX } from "../../domain/json/index.ts";
import { type InvalidText, invalidAt, invalidYaml } from "./invalid-text.ts";

/** The characters by which aliases may extend a text; in a long text, half of its length. */
const ALIASED_CHARACTERS_MAX = 64 * 1024;
const ALIAS_SHOWN_MAX = 64;
/** The offset with which the library marks a missing anchor, tag or text. */
const NONE = -1;

const SCALAR_TAGS = [nullCoreTag, boolCoreTag, intCoreTag, floatCoreTag];
/** The scalar tags by the first character of the values that they match. Most values match no tag. */
const TAGS_BY_FIRST = Map.groupBy(
  SCALAR_TAGS.flatMap((tag) => (tag.implicitFirstChars ?? []).map((first) => ({ tag, first }))),
  ({ first }) => first,
);
const STRING_TAG = "tag:yaml.org,2002:str";

/** A value with its size and its height, for the limits on aliases and depth. */
interface Built {
  readonly value: unknown;
  /** The number of characters in the value's keys and scalars, plus one for each value inside. */
  readonly size: number;
  /** The number of nested levels of lists and maps. */
  readonly height: number;
}

/** The place of a value, with the places of its fields or items. */
export interface Located {
  /** The offset of a field's key, or of an item or the whole text. */
  readonly offset: number;
  readonly parts: ReadonlyMap<string | number, Located>;
}

type Parts = Map<string | number, Located>;

interface Open {
  readonly into: unknown[] | Record<string, unknown>;
  readonly start: number;
  readonly parts: Parts | null;
  readonly anchor: string | null;
  /** The key whose value has not been read yet, or null. */
  key: string | null;
  keyStart: number;
  size: number;
  height: number;
}

/** Builds the value from the library's events, by the core schema. Every key is a string and occurs once in its map. */
export class ValueBuilder {
  documents = 0;
  value: unknown = null;
  /** The place of the value. An alias has no parts. */
  top: Located = { offset: 0, parts: new Map() };

  readonly #text: string;
  readonly #onRepeatedKey: (offset: number) => void;
  readonly #keepsPlaces: boolean;
  readonly #open: Open[] = [];
  /** The values by the names of their anchors. A value is null until it has been read completely. */
  readonly #anchors = new Map<string, Built | null>();
  #aliased: number;

  constructor(text: string, onRepeatedKey: (offset: number) => void, keepsPlaces = false) {
    this.#text = text;
    this.#onRepeatedKey = onRepeatedKey;
    this.#keepsPlaces = keepsPlaces;
    this.#aliased = Math.max(ALIASED_CHARACTERS_MAX, text.length / 2);
  }

  take(event: Event): void {
    switch (event.type) {
      case EVENT_ID.DOCUMENT:
        this.documents++;
        break;
      case EVENT_ID.SEQUENCE:
        this.#begin([], "seq", event);
        break;
      case EVENT_ID.MAPPING:
        this.#begin({}, "map", event);
        break;
      case EVENT_ID.SCALAR:
        this.#scalar(event);
        break;
      case EVENT_ID.ALIAS:
        this.#alias(event);
        break;
      case EVENT_ID.POP:
        this.#end();
        break;
    }
  }

  #begin(into: Open["into"], kind: string, event: SequenceEvent | MappingEvent): void {
    const tag = this.#tagOf(event);
    if (tag !== null && tag !== `tag:yaml.org,2002:${kind}`) throw this.#refusedTag(event);
    if (this.#awaitsKey()) throw this.#refusedKey(event.start);
    if (this.#open.length === JSON_DEPTH_MAX) throw nestedYaml(event.start, this.#text);
    const anchor = event.anchorStart === NONE ? null : this.#text.slice(event.anchorStart, event.anchorEnd);
    if (anchor !== null) this.#anchors.set(anchor, null);
    const parts = this.#keepsPlaces ? new Map() : null;
    this.#open.push({ into, start: event.start, parts, anchor, key: null, keyStart: 0, size: 1, height: 1 });
  }

  /** No list or map is open at the end of a document. */
  #end(): void {
    const ended = this.#open.pop();
    if (ended === undefined) return;
    const built = { value: ended.into, size: ended.size, height: ended.height };
    if (ended.anchor !== null) this.#anchors.set(ended.anchor, built);
    this.#add(built, ended.start, ended.parts);
  }

  #scalar(event: ScalarEvent): void {
    const text = getScalarValue(this.#text, event);
    const value = this.#resolved(text, event);
    const built = { value, size: 1 + text.length, height: 0 };
    if (event.anchorStart !== NONE) {
      this.#anchors.set(this.#text.slice(event.anchorStart, event.anchorEnd), built);
    }
    const start = event.valueStart - (isQuoted(event) ? 1 : 0);
    if (this.#awaitsKey()) this.#setKey(text, start);
    else this.#add(built, start);
  }

  #alias(event: AliasEvent): void {
    const start = event.anchorStart - 1;
    const name = this.#text.slice(event.anchorStart, event.anchorEnd);
    const built = this.#anchors.get(name);
    if (built === undefined || built === null) {
      const problem =
        built === null
          ? "is inside the value that it repeats: remove the alias"
          : "has no anchor before it: write &name before the value that it repeats, or quote the text";
      throw invalidAt(this.#text, start, `The alias *${name.slice(0, ALIAS_SHOWN_MAX)}`, ` ${problem}.`);
    }
    if (this.#open.length + built.height > JSON_DEPTH_MAX) throw nestedYaml(start, this.#text);
    this.#aliased -= built.size;
    if (this.#aliased < 0) {
      const problem = "The aliases of the YAML expand to too many values";
      throw invalidAt(this.#text, start, problem, ": write the values out.");
    }
    if (this.#awaitsKey()) {
      if (typeof built.value !== "string") throw this.#refusedKey(start);
      this.#setKey(built.value, start);
      return;
    }
    this.#add(built, start);
  }

  #awaitsKey(): boolean {
    const open = this.#open.at(-1);
    return open !== undefined && !Array.isArray(open.into) && open.key === null;
  }

  #setKey(key: string, start: number): void {
    const open = this.#open.at(-1);
    if (open === undefined) return;
    if (Object.hasOwn(open.into, key)) this.#onRepeatedKey(start);
    open.key = key;
    open.keyStart = start;
    open.size += key.length;
  }

  #add({ value, size, height }: Built, start: number, parts: Parts | null = null): void {
    const open = this.#open.at(-1);
    if (open === undefined) {
      this.value = value;
      if (this.#keepsPlaces) this.top = placed(start, parts);
      return;
    }
    const isList = Array.isArray(open.into);
    const name = isList ? open.parts?.size : open.key;
    open.parts?.set(name ?? "", placed(isList ? start : open.keyStart, parts));
    open.size += size;
    open.height = Math.max(open.height, height + 1);
    if (Array.isArray(open.into)) open.into.push(value);
    else setMember(open.into, open.key ?? "", value);
    open.key = null;
  }

  #resolved(text: string, event: ScalarEvent): unknown {
    const tag = this.#tagOf(event);
    if (tag === null) return event.style === SCALAR_STYLE.PLAIN ? plainValue(text) : text;
    if (tag === STRING_TAG) return text;
    const known = SCALAR_TAGS.find(({ tagName }) => tagName === tag);
    if (known === undefined) throw this.#refusedTag(event);
    const value: unknown = known.resolve(text, true, tag);
    if (value !== NOT_RESOLVED) return value;
    throw invalidYaml(this.#text, event.tagStart, "the value does not have the type of its tag");
  }

  /** Returns the full name of a tag, or null. The tag `!` makes a scalar a string, and has no other effect. */
  #tagOf(event: ScalarEvent | SequenceEvent | MappingEvent): string | null {
    if (event.tagStart === NONE) return null;
    const written = this.#text.slice(event.tagStart, event.tagEnd);
    if (written === "!") return event.type === EVENT_ID.SCALAR ? STRING_TAG : null;
    if (written.startsWith("!!")) return `tag:yaml.org,2002:${written.slice(2)}`;
    return written.startsWith("!<") ? written.slice(2, -1) : written;
  }

  #refusedTag({ tagStart }: { tagStart: number }): InvalidText {
    return invalidAt(this.#text, tagStart, "The custom tag", " is not accepted.");
  }

  #refusedKey(start: number): InvalidText {
    return invalidAt(this.#text, start, "The key", " must be a string.");
  }
}

function placed(start: number, parts: Parts | null): Located {
  return { offset: Math.max(0, start), parts: parts ?? new Map() };
}

export function nestedYaml(offset: number, text: string): InvalidText {
  return invalidAt(
    text,
    offset,
    `The YAML is nested more than ${JSON_DEPTH_MAX} levels deep`,
    ": flatten it.",
  );
}

function plainValue(text: string): unknown {
  for (const { tag } of TAGS_BY_FIRST.get(text.charAt(0)) ?? []) {
    const value: unknown = tag.resolve(text, false, tag.tagName);
    if (value !== NOT_RESOLVED) return value;
  }
  return text;
}

function isQuoted({ style }: ScalarEvent): boolean {
  return style === SCALAR_STYLE.SINGLE_QUOTED || style === SCALAR_STYLE.DOUBLE_QUOTED;
}

/** Sets a member as JSON.parse does: `__proto__` is a normal key. */
function setMember(map: Record<string, unknown>, key: string, value: unknown): void {
  if (key !== "__proto__") map[key] = value;
  else Object.defineProperty(map, key, { value, enumerable: true, configurable: true, writable: true });
}
