/**
 * The runtime never resends a stream, so a call with side effects is not retried. With other types than `direct`, the
 * runtime considers the request unfinished when the response arrives, and closes the connection.
 */
export function sentOnce(body: Uint8Array): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>({
    type: "direct",
    // write here, not in `start`: the runtime turns a stream that `start` closes back into a plain body
    pull(controller) {
      if (body.byteLength > 0) controller.write(body);
      controller.end();
    },
  });
}
