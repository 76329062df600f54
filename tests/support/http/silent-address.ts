import { dlopen, FFIType, ptr } from "bun:ffi";

const AF_INET = 2;
const SOCK_STREAM = 1;
/** More connections than the kernel completes for a listener that has no backlog and accepts none. */
const FILLING = 4;

/**
 * Makes an address silent, like that of a host without power: attempts to connect to it get no response. Linux
 * drops them while the queue of a listener that accepts nothing is full.
 *
 * @param address an address of 127.0.0.0/8 on which nothing listens at `port`
 */
export async function silenceAddress(address: string, port: number): Promise<{ close(): void }> {
  const int = FFIType.i32;
  const { symbols, close } = dlopen("libc.so.6", {
    socket: { args: [int, int, int], returns: int },
    bind: { args: [int, FFIType.ptr, int], returns: int },
    listen: { args: [int, int], returns: int },
    close: { args: [int], returns: int },
  });
  const socket = symbols.socket(AF_INET, SOCK_STREAM, 0);
  const name = Buffer.alloc(16);
  name.writeUInt16LE(AF_INET, 0);
  name.writeUInt16BE(port, 2);
  name.set(address.split(".").map(Number), 4);
  if (symbols.bind(socket, ptr(name), name.byteLength) !== 0) throw new Error(`${address}:${port} is taken.`);
  symbols.listen(socket, 0);
  for (let count = 0; count < FILLING; count++) {
    Bun.connect({ hostname: address, port, socket: { data() {} } }).catch(() => {});
  }
  await Bun.sleep(50);
  return {
    close() {
      symbols.close(socket);
      close();
    },
  };
}
