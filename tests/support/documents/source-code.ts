import ts from "typescript";

/** A string, a template, a text between JSX tags, or a comment, as the code spells it. */
export interface Written {
  /** The text, with `…` for each `${…}`. */
  readonly text: string;
  /** The position of the text in the code. */
  readonly index: number;
}

/** A regular expression. */
export interface SourcePattern {
  readonly source: string;
  readonly flags: string;
}

/** The texts of a file of TypeScript code. */
interface SourceTexts {
  /** The strings and templates, except templates with a tag, such as SQL. */
  readonly strings: readonly Written[];
  /** Each comment as the code spells it. Each `//` is a comment. */
  readonly comments: readonly Written[];
  /** The literal regular expressions. */
  readonly patterns: readonly SourcePattern[];
}

const COMMENT = /\/\*.*?\*\/|\/\/[^\n]*/gs;

/** Returns the texts of TypeScript code. In a file of JSX, the texts between tags are strings. */
export function textsIn(path: string, code: string): SourceTexts {
  const kind = path.endsWith(".tsx") ? ts.ScriptKind.TSX : ts.ScriptKind.TS;
  const source = ts.createSourceFile(path, code, ts.ScriptTarget.Latest, false, kind);
  const strings: Written[] = [];
  const patterns: SourcePattern[] = [];
  /** The code with spaces in place of the literals before `end`, so that what is left of comments is one. */
  let plain = "";
  let end = 0;
  const take = (node: ts.Node, start = node.getStart(source)): string => {
    plain += code.slice(end, start).padEnd(node.end - end);
    end = node.end;
    return code.slice(start, end);
  };
  const visit = (node: ts.Node): void => {
    if (ts.isTaggedTemplateExpression(node)) {
      visit(node.tag);
      readTemplate(node.template);
    } else if (ts.isTemplateExpression(node) || ts.isNoSubstitutionTemplateLiteral(node)) {
      strings.push({ index: node.getStart(source) + 1, text: readTemplate(node) });
    } else if (ts.isStringLiteral(node)) {
      strings.push({ index: node.getStart(source) + 1, text: take(node).slice(1, -1) });
    } else if (ts.isJsxText(node)) strings.push({ index: node.pos, text: take(node, node.pos) });
    else if (ts.isRegularExpressionLiteral(node)) {
      const [, pattern = "", flags = ""] = /^\/(.*)\/([a-z]*)$/.exec(take(node)) ?? [];
      patterns.push({ source: pattern, flags });
    } else ts.forEachChild(node, visit);
  };
  const readTemplate = (template: ts.TemplateLiteral): string => {
    if (ts.isNoSubstitutionTemplateLiteral(template)) return take(template).slice(1, -1);
    const texts = [take(template.head).slice(1, -2)];
    for (const { expression, literal } of template.templateSpans) {
      visit(expression);
      texts.push(take(literal).replace(/^\}|`$|\$\{$/g, ""));
    }
    return texts.join("…");
  };
  visit(source);
  const comments = Array.from((plain + code.slice(end)).matchAll(COMMENT), ({ 0: text, index }) => ({
    text,
    index,
  }));
  return { strings, comments, patterns };
}
