#include "staging.h"

namespace dart {

Staging::Staging(Napi::Env env, const Arguments &arguments) : env_(env), backend_(&cpu_backend()) {
  if (arguments.text("device") != "cuda") return;
  std::string reason;
  backend_ = cuda_backend(arguments.text("cudaLibrary"), &reason);
  if (backend_ == nullptr) throw Napi::Error::New(env, "No CUDA device: " + reason);
}

Staging::~Staging() {
  for (const Copy &copy : copies_) backend_->dart_device_free(copy.device);
}

/* One host array has one device copy, however often it is named (dlogits in place of logits). */
void *Staging::place(void *host, int64_t bytes, bool copy_in, bool copy_back) {
  if (host == nullptr || !backend_->on_device) return host;
  for (Copy &copy : copies_) {
    if (copy.host != host || copy.bytes != bytes) continue;
    copy.back = copy.back || copy_back;
    return copy.device;
  }
  void *device = scratch(bytes);
  copies_.back() = {host, device, bytes, copy_back};
  if (copy_in) check(backend_->dart_device_copy(device, host, bytes, DART_TO_DEVICE));
  return device;
}

void *Staging::scratch(int64_t bytes) {
  void *device = nullptr;
  check(backend_->dart_device_allocate(&device, bytes));
  copies_.push_back({nullptr, device, bytes, false});
  return device;
}

void Staging::finish(int status) {
  check(status);
  for (const Copy &copy : copies_)
    if (copy.back) check(backend_->dart_device_copy(copy.host, copy.device, copy.bytes, DART_FROM_DEVICE));
}

void Staging::check(int status) const {
  if (status != DART_OK) throw Napi::Error::New(env_, backend_->dart_last_error());
}

}  // namespace dart
