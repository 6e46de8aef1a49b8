#include "lane.h"

#include <system_error>

namespace dart {
namespace {

/* A call, its promise, and what keeps its arrays. Settles in plain Node-API: in an environment that is ending nothing may throw. */
class Promised final : public Job {
 public:
  Promised(Napi::Object held, std::unique_ptr<Call> call) : held_(Napi::Persistent(held)), call_(std::move(call)) {
    const napi_status status = napi_create_promise(held.Env(), &deferred_, &promise_);
    if (status != napi_ok) throw Napi::Error::New(held.Env());
  }

  napi_value promise() const { return promise_; }
  void run() noexcept override { outcome_ = call_->run(); }

  void settle(napi_env env) {
    napi_value value = nullptr;
    if (outcome_.status != DART_OK) {
      napi_reject_deferred(env, deferred_, outcome_.error_value(env));
      return;
    }
    napi_get_undefined(env, &value);
    napi_resolve_deferred(env, deferred_, value);
  }

 private:
  napi_deferred deferred_ = nullptr;
  napi_value promise_ = nullptr; /* valid until the function that made it returns */
  Napi::ObjectReference held_;
  std::unique_ptr<Call> call_;
  Outcome outcome_;
};

}  // namespace

Lane &Lane::of(Napi::Env env) {
  if (Lane *lane = env.GetInstanceData<Lane>()) return *lane;
  Lane *lane = new Lane(env);
  env.SetInstanceData<Lane>(lane);
  return *lane;
}

/* The hook is added after the bell has added its own, and so runs before: nothing rings a bell that is gone. */
Lane::Lane(Napi::Env env) : bell_(Bell::New(env, "dart kernels", 0, 1, this)) {
  bell_.Unref(env);
  env.AddCleanupHook([](Lane *lane) { lane->close(); }, this);
}

Napi::Value Lane::start(Napi::Object held, std::unique_ptr<Call> call) {
  const Napi::Env env = held.Env();
  auto job = std::make_unique<Promised>(held, std::move(call));
  const napi_value promise = job->promise();
  try {
    Executor::shared().submit(this, std::move(job));
  } catch (const std::system_error &error) {
    throw Napi::Error::New(env, std::string("No thread for the kernels: ") + error.what());
  }
  if (open_++ == 0) bell_.Ref(env); /* the process stays while a promise is open */
  return Napi::Value(env, promise);
}

void Lane::finished(std::unique_ptr<Job> job) noexcept {
  {
    const std::lock_guard<std::mutex> lock(guard_);
    finished_.push_back(std::move(job));
  }
  bell_.NonBlockingCall();
}

void Lane::wake(Napi::Env env, Napi::Function, Lane *lane, void *) {
  if (static_cast<napi_env>(env) != nullptr) lane->settle(env);
}

void Lane::settle(Napi::Env env) {
  std::deque<std::unique_ptr<Job>> done;
  {
    const std::lock_guard<std::mutex> lock(guard_);
    done.swap(finished_);
  }
  open_ -= static_cast<int>(done.size());
  if (open_ == 0) bell_.Unref(env);
  for (const std::unique_ptr<Job> &job : done) static_cast<Promised &>(*job).settle(env);
}

/* The environment ends: its arrays go with it, so that a kernel must not be at work on them. */
void Lane::close() {
  Executor::shared().withdraw(this);
  finished_.clear();
  bell_.Release();
}

}  // namespace dart
