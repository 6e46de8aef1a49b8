export { anyStore, givenStore, storeToRead } from '../store.ts';
