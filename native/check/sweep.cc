/* Reads and writes every byte once, in place: what memory and cores allow at best. Compiled for the machine it runs on. */
#include <cstdint>
#include <thread>
#include <vector>

namespace {
void part(uint32_t *words, int64_t count) {
  for (int64_t i = 0; i < count; i++) words[i] ^= 0x00010001u;
}
}  // namespace

extern "C" void dart_sweep(uint32_t *words, int64_t count, int threads) {
  std::vector<std::thread> others;
  const int64_t each = count / threads;
  for (int k = 1; k < threads; k++) others.emplace_back(part, words + k * each, k + 1 == threads ? count - k * each : each);
  part(words, threads == 1 ? count : each);
  for (std::thread &other : others) other.join();
}
