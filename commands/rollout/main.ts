import { start } from '../start.ts';
import { spec } from './spec.ts';

await start(spec);
