import { EVENT_ID, type Event, getScalarValue, parseEvents, SCALAR_STYLE, type ScalarEvent } from "js-yaml";
import { JSON_DEPTH_MAX } from "../../domain/json/index.ts";

export interface Located {
  /** The offset of a field's key, or of an item or the whole text. */
  readonly offset: number;
  readonly parts: ReadonlyMap<string | number, Located>;
}

interface Open {
  readonly parts: Map<string | number, Located>;
  readonly isList: boolean;
  /** The key whose value has not been read yet, or null. */
  key: { readonly text: string; readonly offset: number } | null;
}

/** Returns the positions in a text that has been parsed without an error. An alias has no parts. */
export function yamlPlaces(text: string): Located {
  const builder = new PlaceBuilder(text);
  for (const event of parseEvents(text, { maxDepth: 2 * JSON_DEPTH_MAX })) builder.take(event);
  return builder.top;
}

class PlaceBuilder {
  top: Located = { offset: 0, parts: new Map() };
  readonly #text: string;
  readonly #open: Open[] = [];
  /** An alias of a scalar can be a key. */
  readonly #anchored = new Map<string, string>();

  constructor(text: string) {
    this.#text = text;
  }

  take(event: Event): void {
    switch (event.type) {
      case EVENT_ID.SEQUENCE:
      case EVENT_ID.MAPPING: {
        const parts = this.#add(event.start);
        this.#open.push({ parts, isList: event.type === EVENT_ID.SEQUENCE, key: null });
        break;
      }
      case EVENT_ID.SCALAR:
        this.#scalar(event);
        break;
      case EVENT_ID.ALIAS: {
        const name = this.#text.slice(event.anchorStart, event.anchorEnd);
        this.#keyOrValue(this.#anchored.get(name) ?? "", event.anchorStart - 1);
        break;
      }
      case EVENT_ID.POP:
        this.#open.pop();
        break;
    }
  }

  #scalar(event: ScalarEvent): void {
    const value = getScalarValue(this.#text, event);
    if (event.anchorStart >= 0) {
      this.#anchored.set(this.#text.slice(event.anchorStart, event.anchorEnd), value);
    }
    const isQuoted = event.style === SCALAR_STYLE.SINGLE_QUOTED || event.style === SCALAR_STYLE.DOUBLE_QUOTED;
    this.#keyOrValue(value, Math.max(0, event.valueStart - (isQuoted ? 1 : 0)));
  }

  #keyOrValue(text: string, offset: number): void {
    const open = this.#open.at(-1);
    if (open !== undefined && !open.isList && open.key === null) open.key = { text, offset };
    else this.#add(offset);
  }

  #add(offset: number): Open["parts"] {
    const parts: Open["parts"] = new Map();
    const open = this.#open.at(-1);
    if (open === undefined) this.top = { offset, parts };
    else if (open.isList) open.parts.set(open.parts.size, { offset, parts });
    else if (open.key !== null) {
      open.parts.set(open.key.text, { offset: open.key.offset, parts });
      open.key = null;
    }
    return parts;
  }
}
