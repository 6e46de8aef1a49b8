export { smartResize } from './coordinates.ts';
export { formatAction } from './format.ts';
export { type ParsedReply, parseReply } from './parse.ts';
