/**
 * Returns the body as a stream that is sent once, so that no call with side effects is retried. A direct
 * stream ends in time: under another kind of stream the runtime considers its part unfinished when the
 * service answers, and closes the connection.
 */
export function sentOnce(body: Uint8Array): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>({
    type: "direct",
    // not in `start`: the runtime turns a stream that is closed by then back into a plain body
    pull(controller) {
      if (body.byteLength > 0) controller.write(body);
      controller.end();
    },
  });
}
