/*
 * One kernel call in two halves: JavaScript arguments are read into plain values on the thread that JavaScript runs on;
 * the work is done there, or on the executor's thread when a promise was asked for.
 */
#ifndef DART_CALL_H
#define DART_CALL_H

#include <cstring>
#include <memory>
#include <vector>

#include "arguments.h"
#include "staging.h"

namespace dart {

/* How a call ended: DART_OK, or why not. */
struct Outcome {
  int status = DART_OK;
  std::string text;

  /* The TypeError or Error that JavaScript gets; empty where it cannot be made. */
  napi_value error_value(napi_env env) const;
};

class Call {
 public:
  explicit Call(const Arguments &in);
  virtual ~Call() = default;
  Call(const Call &) = delete;
  Call &operator=(const Call &) = delete;

  /* Any thread, once. */
  Outcome run() noexcept;

 protected:
  virtual void work(Staging &staging) = 0;

 private:
  Target target_;
};

/* Runs the call: undefined when it is done, or at once a promise of that when the arguments say `async`. */
Napi::Value perform(const Arguments &in, std::unique_ptr<Call> call);

/* A call of one kernel that takes one struct, whose pointers are filled when it runs. */
template <typename Args>
class KernelCall final : public Call {
 public:
  using Kernel = int (*Backend::*)(const Args *);

  KernelCall(const Arguments &in, Kernel kernel) : Call(in), kernel_(kernel) {}

  Args args{};

  template <typename T>
  void in(const T *&field, const Span<T> &span) {
    bind(&field, span.data, span.size * sizeof(T), Direction::in);
  }
  template <typename T>
  void out(T *&field, const Span<T> &span) {
    bind(&field, span.data, span.size * sizeof(T), Direction::out);
  }
  template <typename T>
  void in_out(T *&field, const Span<T> &span) {
    bind(&field, span.data, span.size * sizeof(T), Direction::in_out);
  }
  void in(const void *&field, const Values &values) { bind(&field, values.data, values.bytes(), Direction::in); }
  void in_out(void *&field, const Values &values) { bind(&field, values.data, values.bytes(), Direction::in_out); }

  /* Memory of so many bytes on the device; `size` is asked of the backend when the call runs. */
  void workspace(void *&field, int64_t (*Backend::*size)(int64_t), int64_t count) {
    workspace_ = &field;
    workspace_size_ = size;
    workspace_count_ = count;
  }

 private:
  struct Binding {
    void *field; /* address of a pointer in args */
    void *host;
    int64_t bytes;
    Direction direction;
  };

  void bind(void *field, void *host, size_t bytes, Direction direction) {
    if (host != nullptr) bindings_.push_back({field, host, static_cast<int64_t>(bytes), direction});
  }

  void work(Staging &staging) override {
    for (const Binding &binding : bindings_) {
      void *address = staging.place(binding.host, binding.bytes, binding.direction);
      std::memcpy(binding.field, &address, sizeof address);
    }
    const Backend &backend = staging.backend();
    if (workspace_ != nullptr) *workspace_ = staging.scratch((backend.*workspace_size_)(workspace_count_));
    staging.check((backend.*kernel_)(&args));
    staging.bring_back();
  }

  Kernel kernel_;
  std::vector<Binding> bindings_;
  void **workspace_ = nullptr;
  int64_t (*Backend::*workspace_size_)(int64_t) = nullptr;
  int64_t workspace_count_ = 0;
};

}  // namespace dart

#endif
