/* Times the kernels beside the library's own copy of the same bytes. */
#ifndef DART_CHECK_TIMING_H
#define DART_CHECK_TIMING_H

#include <string>

#include "library.h"

namespace check {

/* Prints a table; appends metric records to a file when one is named. Returns the program's exit code. */
int time_kernels(const Library &library, bool quick, const std::string &records);

}  // namespace check

#endif
