/**
 * An error for an answer that is not HTTP/1.1, or whose end is ambiguous. The connection must be closed.
 * `message` names the broken rule and never quotes the answer, so it can be logged.
 */
export class MalformedResponse extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = "MalformedResponse";
  }
}
