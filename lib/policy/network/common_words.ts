/**
 * Words of instructions that have a token of their own: function words, verbs and nouns of computer use. Every other word
 * is a name: it is known by its letters alone, which serve to find it on the screen and to type it. So a policy cannot
 * take a name that it has seen in training for anything but letters, and treats one that it has never seen alike.
 */
const FUNCTION =
  'the a an and then or of to from in on at into with for by as is it its all named called off up down not';
const VERBS =
  'open close save delete remove rename move copy make create add insert write type set turn put play pause stop star ' +
  'archive send reply forward search find go choose select use change export import run clear join accept apply switch ' +
  'enable disable show hide mark sort undo paste cut draw rotate flip crop resize bookmark visit buy start quit empty';
const NOUNS =
  'file folder mail message song playlist line row column cell sheet slide title picture image page tab menu dialog ' +
  'preferences settings terminal trash cart engine subject window app text word list name value size volume button box ' +
  'bar desktop home form word video track document item field address site command key option';

export const COMMON_WORDS: readonly string[] = [...new Set(`${FUNCTION} ${VERBS} ${NOUNS}`.split(' '))];
