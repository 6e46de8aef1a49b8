#ifndef DART_CPU_ERROR_H
#define DART_CPU_ERROR_H

namespace dart {

/* Keeps the reason for dart_last_error() and returns the code. */
int fail(int status, const char *reason);

}  // namespace dart

#endif
