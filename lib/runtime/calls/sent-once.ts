/**
 * Returns the body as a stream that is sent once, so that no call with side effects is retried. The stream is
 * direct, because with other streams the runtime closes the connection: it considers the request unfinished
 * when the answer arrives.
 */
export function sentOnce(body: Uint8Array): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>({
    type: "direct",
    // not in `start`: the runtime turns a stream that `start` closes back into a plain body
    pull(controller) {
      if (body.byteLength > 0) controller.write(body);
      controller.end();
    },
  });
}
