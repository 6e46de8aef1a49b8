#include "staging.h"

namespace dart {

Staging::Staging(const Target &target) : backend_(&cpu_backend()) {
  if (!target.cuda) return;
  std::string reason;
  backend_ = cuda_device(target.library, target.device, &reason);
  if (backend_ == nullptr) throw Failure(DART_DEVICE_ERROR, "No CUDA device: " + reason);
  check(backend_->dart_device_set(target.device));
}

Staging::~Staging() {
  for (const Copy &copy : copies_) backend_->dart_device_free(copy.device);
}

void *Staging::place(void *host, int64_t bytes, Direction direction) {
  if (host == nullptr || !backend_->on_device) return host;
  const bool back = direction != Direction::in;
  for (Copy &copy : copies_) {
    if (copy.host != host || copy.bytes != bytes) continue;
    copy.back = copy.back || back;
    return copy.device;
  }
  void *device = scratch(bytes);
  copies_.back() = {host, device, bytes, back};
  if (direction != Direction::out) check(backend_->dart_device_copy(device, host, bytes, DART_TO_DEVICE));
  return device;
}

void *Staging::scratch(int64_t bytes) {
  copies_.reserve(copies_.size() + 1); /* so that nothing can fail between the allocation and its record */
  void *device = nullptr;
  check(backend_->dart_device_allocate(&device, bytes));
  copies_.push_back({nullptr, device, bytes, false});
  return device;
}

void Staging::bring_back() {
  for (const Copy &copy : copies_)
    if (copy.back) check(backend_->dart_device_copy(copy.host, copy.device, copy.bytes, DART_FROM_DEVICE));
}

void Staging::check(int status) const {
  if (status != DART_OK) throw Failure(status, backend_->dart_last_error());
}

}  // namespace dart
