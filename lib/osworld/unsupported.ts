import { DartError } from '../errors.ts';

/**
 * What a task needs and this run does not have: the Python bridge, an account, a guest. The task is neither scored nor
 * an evaluator error; it counts as unsupported.
 */
export class Unsupported extends DartError {}
