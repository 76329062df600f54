/** A web worker that verifies each audit log export that its page posts, and posts the verdict. */
import { givenOf, type TestExport } from "../audit/proof-exports.ts";
import { verify } from "../audit/verify-lines.ts";

declare const self: Worker;

self.onmessage = async ({ data }: MessageEvent<TestExport>) => {
  self.postMessage(JSON.stringify(await verify(data.lines, await givenOf(data))));
};
