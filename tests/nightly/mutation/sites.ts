import ts from "typescript";
import { wordsOf } from "../../support/words.ts";

export const KINDS = ["comparison", "bound", "await", "status", "guard", "negation", "statement"] as const;
export type Kind = (typeof KINDS)[number];

export interface Site {
  readonly kind: Kind;
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

type Change = Pick<Site, "kind" | "text"> & { readonly node: ts.Node };

const { SyntaxKind } = ts;
const FLIPPED: ReadonlyMap<ts.SyntaxKind, readonly [Kind, string]> = new Map([
  [SyntaxKind.EqualsEqualsEqualsToken, ["comparison", "!=="]],
  [SyntaxKind.ExclamationEqualsEqualsToken, ["comparison", "==="]],
  [SyntaxKind.LessThanToken, ["bound", "<="]],
  [SyntaxKind.LessThanEqualsToken, ["bound", "<"]],
  [SyntaxKind.GreaterThanToken, ["bound", ">="]],
  [SyntaxKind.GreaterThanEqualsToken, ["bound", ">"]],
]);
const BOUNDS = /^(minimum|maximum|exclusiveMinimum|exclusiveMaximum|(min|max)(Length|Items|Properties))$/;
/** Status codes and error codes, and the code that replaces each. */
const STATUSES: ReadonlyMap<string, string> = new Map(
  wordsOf(`
    200>201 201>200 204>200 303>302 304>200 400>422 401>403 403>401 404>403 409>412 410>404 412>409
    413>400 415>400 422>400 429>503 500>503 502>503 503>502 504>502 UNAUTHORIZED>FORBIDDEN
    FORBIDDEN>NOT_FOUND NOT_FOUND>FORBIDDEN CONFLICT>PRECONDITION_FAILED PRECONDITION_FAILED>CONFLICT
    VALIDATION_ERROR>INVALID_REQUEST INVALID_REQUEST>VALIDATION_ERROR PAYLOAD_TOO_LARGE>INVALID_REQUEST
    RATE_LIMITED>FORBIDDEN BAD_GATEWAY>SERVICE_UNAVAILABLE SERVICE_UNAVAILABLE>BAD_GATEWAY
  `).map((pair): [string, string] => {
    const [from = "", to = ""] = pair.split(">");
    return [from, to];
  }),
);
/** Calls whose only effect is what operators read, and properties that only people read. */
const TOLD =
  /\b(log|logger|logs|warnings|metrics?|counter|histogram|gauge|progress)\b|\.(inc|observe|debug|info|warn)\(/;
const PROSE = /^(description|summary|title|help|examples?|samples?|default|message|hint)$/;

/** Returns the places at which a mutation makes another program of this source, in the order of the source. */
export function sitesIn(path: string, source: string): Site[] {
  const file = ts.createSourceFile(path, source, ts.ScriptTarget.Latest, true);
  const sites: Site[] = [];
  const visit = (node: ts.Node): void => {
    if (isOnlyRead(node, file)) return;
    for (const { node: changed, kind, text } of changesOf(node, file)) {
      sites.push({ kind, text, start: changed.getStart(file), end: changed.getEnd() });
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return sites;
}

/** Returns whether no client or store notices a change of this node: types, log lines, metrics and descriptions. */
function isOnlyRead(node: ts.Node, file: ts.SourceFile): boolean {
  if (ts.isTypeNode(node) || ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node)) return true;
  if (ts.isPropertyAssignment(node)) return PROSE.test(node.name.getText(file));
  return ts.isExpressionStatement(node) && TOLD.test(headOf(node.getText(file)));
}

function headOf(text: string): string {
  return text.slice(0, text.indexOf("(") + 1);
}

function changesOf(node: ts.Node, file: ts.SourceFile): Change[] {
  if (ts.isBinaryExpression(node)) return changesOfBinary(node, file);
  if (ts.isPropertyAssignment(node)) return changesOfProperty(node, file);
  if (ts.isIfStatement(node))
    return leaves(node) ? [{ kind: "guard", node: node.expression, text: "false" }] : [];
  if (ts.isStringLiteral(node)) return changesOfCode(node);
  if (ts.isPrefixUnaryExpression(node) && node.operator === SyntaxKind.ExclamationToken) {
    return [{ kind: "negation", node, text: node.operand.getText(file) }];
  }
  if (!ts.isExpressionStatement(node)) return [];
  const { expression } = node;
  const empty: Change = { kind: "statement", node, text: ";" };
  if (ts.isCallExpression(expression) && expression.expression.kind !== SyntaxKind.SuperKeyword)
    return [empty];
  if (!ts.isAwaitExpression(expression)) return [];
  // Without its await, the last statement of a program does the same.
  if (node.parent === file && file.statements.at(-1) === node) return [empty];
  return [empty, { kind: "await", node: expression, text: expression.expression.getText(file) }];
}

function changesOfBinary(node: ts.BinaryExpression, file: ts.SourceFile): Change[] {
  const flipped = FLIPPED.get(node.operatorToken.kind);
  if (flipped === undefined) return [];
  const [kind, text] = flipped;
  const changes: Change[] = [{ kind, node: node.operatorToken, text }];
  for (const side of [node.left, node.right]) {
    if (!ts.isNumericLiteral(side)) continue;
    const status = STATUSES.get(side.text);
    if (status !== undefined) changes.push({ kind: "status", node: side, text: status });
    else if (kind === "bound") changes.push({ kind, node: side, text: oneMoreThan(side, file) });
  }
  return changes;
}

function changesOfProperty(node: ts.PropertyAssignment, file: ts.SourceFile): Change[] {
  const name = node.name.getText(file);
  const value = node.initializer;
  if (!ts.isNumericLiteral(value)) return [];
  const status = name === "status" ? STATUSES.get(value.text) : undefined;
  if (status !== undefined) return [{ kind: "status", node: value, text: status }];
  return BOUNDS.test(name) ? [{ kind: "bound", node: value, text: oneMoreThan(value, file) }] : [];
}

/** Swaps an error code that is an argument, as in `new ApiError("NOT_FOUND")`. */
function changesOfCode(node: ts.StringLiteral): Change[] {
  const text = STATUSES.get(node.text);
  const isArgument = ts.isNewExpression(node.parent) || ts.isCallExpression(node.parent);
  return isArgument && text !== undefined ? [{ kind: "status", node, text: `"${text}"` }] : [];
}

function oneMoreThan(literal: ts.NumericLiteral, file: ts.SourceFile): string {
  return String(Number(literal.getText(file).replaceAll("_", "")) + 1);
}

/** Returns whether the statement only leaves the function or the loop, so that its condition is a guard. */
function leaves({ thenStatement, elseStatement }: ts.IfStatement): boolean {
  if (elseStatement !== undefined) return false;
  const last = ts.isBlock(thenStatement) ? thenStatement.statements.at(-1) : thenStatement;
  return (
    last !== undefined &&
    (ts.isReturnStatement(last) ||
      ts.isThrowStatement(last) ||
      ts.isContinueStatement(last) ||
      ts.isBreakStatement(last))
  );
}
