/** Returns the error with which a promise rejects. Throws when the promise resolves. */
export async function rejection(promise: Promise<unknown>): Promise<unknown> {
  let value: unknown;
  try {
    value = await promise;
  } catch (error) {
    return error;
  }
  throw new Error(`A rejection was expected, not ${Bun.inspect(value)}`);
}
