export type { PixelLimits, ScreenConvention } from './coordinates.ts';
export { smartResize } from './coordinates.ts';
export { formatAction } from './format.ts';
export { type ParsedAction, parseOsworldAction } from './osworld_action.ts';
export { type ParsedReply, parseReply } from './parse.ts';
