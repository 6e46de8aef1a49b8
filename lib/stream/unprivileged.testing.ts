/** The number that systems give to the user who owns nothing. */
const NOBODY = 65534;

/**
 * Does something as a user whom modes of files hold: root, whom they do not, has the rights of nobody meanwhile. Folders
 * on the way to what is tried must let others through.
 */
export async function unprivileged<T>(action: () => T | Promise<T>): Promise<T> {
  if (process.geteuid?.() !== 0) return action();
  process.seteuid!(NOBODY);
  try {
    return await action();
  } finally {
    process.seteuid!(0);
  }
}
