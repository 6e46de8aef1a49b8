const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|::1|\[::1\])$/i;

/** Whether only this machine can reach a host, as an address or as a URL has it. */
export function isLoopback(host: string): boolean {
  return LOOPBACK.test(host);
}
