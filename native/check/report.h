/* Collects the worst output of each case and prints one table. */
#ifndef DART_CHECK_REPORT_H
#define DART_CHECK_REPORT_H

#include <string>
#include <vector>

namespace check {

/* One case: differences are counted in tolerances, a miss is above 1. */
class Case {
 public:
  Case(std::string kernel, std::string name) : kernel(std::move(kernel)), name(std::move(name)) {}

  /* |got - want| against the tolerance; NaN only equals nothing, equal infinities are equal. */
  void number(const char *output, double got, double want, double tolerance);
  void exact(const char *output, double got, double want) { number(output, got, want, 0); }
  /* Something that must be so. */
  void holds(const char *output, bool fact) {
    if (!fact) miss(output, 1e300);
    seen_ = true;
  }
  bool ok() const { return seen_ && share <= 1; }

  std::string kernel, name, worst;
  double share = 0;

 private:
  void miss(const char *output, double how_much);
  bool seen_ = false; /* a case that compared nothing is not OK */
};

class Report {
 public:
  explicit Report(bool failures_only) : failures_only_(failures_only) {}
  void add(const Case &one);
  /* Prints the table; returns the number of misses. */
  int print() const;

 private:
  bool failures_only_;
  std::vector<Case> cases_;
};

}  // namespace check

#endif
