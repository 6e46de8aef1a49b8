#include "report.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace check {

void Case::miss(const char *output, double how_much) {
  if (how_much <= share) return;
  share = how_much;
  worst = output;
}

void Case::number(const char *output, double got, double want, double tolerance) {
  seen_ = true;
  if (got == want) return;
  const double gap = std::fabs(got - want);
  if (std::isnan(gap) || std::isinf(gap) || !(tolerance > 0)) return miss(output, 1e300);
  miss(output, gap / tolerance);
}

void Report::add(const Case &one) { cases_.push_back(one); }

int Report::print() const {
  size_t kernel = 6, name = 4;
  for (const Case &one : cases_) {
    kernel = std::max(kernel, one.kernel.size());
    name = std::max(name, one.name.size());
  }
  int missed = 0;
  std::printf("%-6s  %-*s  %-*s  %14s  %s\n", "", static_cast<int>(kernel), "kernel", static_cast<int>(name), "case", "% of tolerance", "worst output");
  for (const Case &one : cases_) {
    missed += one.ok() ? 0 : 1;
    if (one.ok() && failures_only_) continue;
    char share[32];
    std::snprintf(share, sizeof share, "%.1f", 100 * one.share);
    std::printf("%-6s  %-*s  %-*s  %14s  %s\n", one.ok() ? "OK" : "NOT OK", static_cast<int>(kernel), one.kernel.c_str(), static_cast<int>(name),
                one.name.c_str(), one.share >= 1e299 ? "wrong" : share, one.worst.c_str());
  }
  std::printf("%zu OK, %d NOT OK\n", cases_.size() - missed, missed);
  return missed;
}

}  // namespace check
