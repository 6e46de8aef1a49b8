const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const END = Buffer.from('IEND');
/** Where the end mark of a whole file begins, counted from behind: type and checksum. */
const END_LENGTH = 8;

export interface PngSize {
  width: number;
  height: number;
}

/** The size that a whole PNG states (PNG specification §11.2.2); or, in words, why it is none. */
export function pngSize(bytes: Buffer): PngSize | string {
  if (bytes.length < 33 || !bytes.subarray(0, 8).equals(SIGNATURE)) return 'it is not a PNG';
  if (bytes.toString('latin1', 12, 16) !== 'IHDR') return 'it is not a PNG';
  if (bytes.indexOf(END, Math.max(0, bytes.length - END_LENGTH - 64)) < 0) return 'it is cut short';
  const size = { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
  return size.width > 0 && size.height > 0 ? size : 'it has no size';
}
