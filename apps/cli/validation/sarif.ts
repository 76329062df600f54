import { DOCUMENT_RULES } from "@ostiary/lib/domain/routes";
import { VERSION } from "@ostiary/lib/runtime/version";
import type { PlacedProblem, Report } from "./validation-report.ts";

const SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";
/** The URI for standard input, in place of `-`. */
const INPUT = "stdin";

const rules = Object.entries(DOCUMENT_RULES).map(([id, text]) => ({
  id,
  shortDescription: { text },
  defaultConfiguration: { level: "error" },
}));

/** Returns the report as a log of SARIF 2.1.0, for code scanning. */
export function sarifLog({ problems, files }: Report) {
  return {
    $schema: SCHEMA,
    version: "2.1.0",
    runs: [
      {
        tool: { driver: { name: "ostiary", version: VERSION, rules } },
        columnKind: "utf16CodeUnits",
        artifacts: files.map(({ file }) => ({ location: { uri: uriOf(file) } })),
        results: problems.map((problem) => resultOf(problem)),
      },
    ],
  };
}

function resultOf({ file, line, column, rule, path, message }: PlacedProblem) {
  return {
    ruleId: rule,
    ruleIndex: rules.findIndex(({ id }) => id === rule),
    level: "error",
    message: { text: message },
    locations: [
      {
        physicalLocation: {
          artifactLocation: { uri: uriOf(file) },
          ...(line !== null && { region: { startLine: line, startColumn: column ?? 1 } }),
        },
        ...(path !== "" && { logicalLocations: [{ fullyQualifiedName: path }] }),
      },
    ],
  };
}

/** Returns a relative URI for a relative path, and a `file:` URI for an absolute path. */
function uriOf(file: string): string {
  if (file === "-") return INPUT;
  const encoded = file
    .replaceAll("\\", "/")
    .replace(/^(\.\/)+/, "")
    .split("/")
    .map(encodeURIComponent)
    .join("/");
  return encoded.startsWith("/") ? `file://${encoded}` : encoded;
}
