/*
 * The promised calls of one JavaScript environment (the main thread, a worker): their arrays are referenced until they are
 * done, their promises settled on the environment's own thread. An environment that ends waits for the call that runs.
 */
#ifndef DART_LANE_H
#define DART_LANE_H

#include <napi.h>

#include <deque>
#include <memory>
#include <mutex>

#include "call.h"
#include "executor.h"

namespace dart {

class Lane final : public JobOwner {
 public:
  explicit Lane(Napi::Env env);
  /* The environment's lane, made on first use. */
  static Lane &of(Napi::Env env);

  /* @param held What keeps the call's arrays alive. */
  Napi::Value start(Napi::Object held, std::unique_ptr<Call> call);
  void finished(std::unique_ptr<Job> job) noexcept override;

 private:
  static void wake(Napi::Env env, Napi::Function, Lane *lane, void *);
  using Bell = Napi::TypedThreadSafeFunction<Lane, void, wake>;

  void settle(Napi::Env env);
  void close();

  Bell bell_;
  int open_ = 0; /* promises not settled */
  std::mutex guard_;
  std::deque<std::unique_ptr<Job>> finished_;
};

}  // namespace dart

#endif
