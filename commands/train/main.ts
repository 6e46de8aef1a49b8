import { main } from '../../lib/cli/main.ts';
import { spec } from './spec.ts';

await main(spec);
