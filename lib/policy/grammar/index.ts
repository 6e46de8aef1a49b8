export { smartResize } from './coordinates.ts';
export { formatAction } from './format.ts';
export { type ParsedAction, parseOsworldAction } from './osworld_action.ts';
export { type ParsedReply, parseReply } from './parse.ts';
export type { ScreenConvention } from './verbs.ts';
