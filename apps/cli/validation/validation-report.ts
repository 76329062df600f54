import { shownPath } from "@ostiary/lib/domain/errors";
import {
  checkDocuments,
  type DocumentContent,
  type DocumentProblem,
  type DocumentRule,
  type DocumentsCheck,
  type Roles,
} from "@ostiary/lib/domain/routes";
import {
  decodeUtf8,
  InvalidText,
  locate,
  parseJsonText,
  parseText,
  type TextPosition,
} from "@ostiary/lib/runtime/documents";
import { isJsonFile } from "../commands/read-document.ts";

/** A file to check, with its content. */
export interface SourceFile {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** A problem in a file. The line and the column are null for a problem of the whole file. */
export interface PlacedProblem {
  readonly file: string;
  readonly line: number | null;
  readonly column: number | null;
  readonly rule: DocumentRule;
  /** The path of the field, such as `services.widgets.url`, or an empty text for the whole document. */
  readonly path: string;
  readonly message: string;
}

/** The files that were checked, and their problems. */
export interface Report {
  readonly valid: boolean;
  readonly files: ({ readonly file: string } & DocumentContent)[];
  readonly problems: PlacedProblem[];
}

interface Parsed {
  readonly name: string;
  readonly text: string;
  readonly value: unknown;
}

/** Checks each file alone and all files together. Sorts the problems by file and line. */
export function checkFiles(sources: readonly SourceFile[], roles: Roles): Report {
  const unreadable: PlacedProblem[] = [];
  const parsed: Parsed[] = [];
  for (const source of sources) {
    const result = parse(source);
    if ("rule" in result) unreadable.push(result);
    else parsed.push(result);
  }
  const names = parsed.map(({ name }) => name);
  const values = parsed.map(({ value }) => value);
  const check = checkDocuments(values, { names, roles });
  const problems = inOrder([...unreadable, ...locatedProblems(parsed, check)], sources);
  const nothing = { services: [], tests: 0 };
  const files = sources.map(({ name }) => ({
    file: name,
    ...(check.contents[names.indexOf(name)] ?? nothing),
  }));
  return { valid: problems.length === 0, files, problems };
}

function parse({ name, bytes }: SourceFile): Parsed | PlacedProblem {
  try {
    const text = decodeUtf8(bytes, "file");
    return { name, text, value: isJsonFile(name) ? parseJsonText(text, "file") : parseText(text, "file") };
  } catch (error) {
    if (!(error instanceof InvalidText)) throw error;
    const { place, parts } = error;
    return { ...placed(name, place), rule: "invalid-document", path: "", message: parts.join("") };
  }
}

function locatedProblems(parsed: readonly Parsed[], { problems }: DocumentsCheck): PlacedProblem[] {
  return parsed.flatMap(({ name, text }, index) => {
    const own = problems.filter(({ document }) => document === index);
    if (own.length === 0) return [];
    const places = locate(
      text,
      own.map(({ path }) => path),
    );
    return own.map((problem, at) => problemOf(name, problem, places[at] ?? null));
  });
}

function problemOf(
  file: string,
  { rule, path, message }: DocumentProblem,
  place: TextPosition | null,
): PlacedProblem {
  return { ...placed(file, place), rule, path: shownPath(path), message };
}

function placed(file: string, place: TextPosition | null) {
  return { file, line: place?.line ?? null, column: place?.column ?? null };
}

function inOrder(problems: PlacedProblem[], sources: readonly SourceFile[]): PlacedProblem[] {
  const order = new Map(sources.map(({ name }, index) => [name, index]));
  const key = ({ file, line, column }: PlacedProblem) =>
    [order.get(file) ?? 0, line ?? 0, column ?? 0] as const;
  return problems.toSorted((one, other) => {
    const [a, b] = [key(one), key(other)];
    return a[0] - b[0] || a[1] - b[1] || a[2] - b[2];
  });
}
