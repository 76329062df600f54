/**
 * The error for a response that is not valid HTTP/1.1, or whose end is ambiguous. The connection must be
 * closed. The message names the broken rule and never quotes the response, so it can be logged.
 */
export class MalformedResponse extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = "MalformedResponse";
  }
}
