#include "executor.h"

#include <algorithm>
#include <thread>

namespace dart {

Executor &Executor::shared() {
  static Executor *executor = new Executor;
  return *executor;
}

void Executor::submit(JobOwner *owner, std::unique_ptr<Job> job) {
  const std::lock_guard<std::mutex> lock(guard_);
  if (!started_) std::thread([this] { loop(); }).detach();
  started_ = true;
  waiting_.push_back({owner, std::move(job)});
  changed_.notify_all();
}

std::deque<std::unique_ptr<Job>> Executor::withdraw(JobOwner *owner) {
  std::unique_lock<std::mutex> lock(guard_);
  std::deque<std::unique_ptr<Job>> taken;
  for (Entry &entry : waiting_)
    if (entry.owner == owner) taken.push_back(std::move(entry.job));
  waiting_.erase(std::remove_if(waiting_.begin(), waiting_.end(), [owner](const Entry &entry) { return entry.owner == owner; }), waiting_.end());
  changed_.wait(lock, [this, owner] { return running_ != owner; });
  return taken;
}

void Executor::loop() {
  std::unique_lock<std::mutex> lock(guard_);
  for (;;) {
    changed_.wait(lock, [this] { return !waiting_.empty(); });
    Entry entry = std::move(waiting_.front());
    waiting_.pop_front();
    running_ = entry.owner;
    lock.unlock();
    entry.job->run();
    entry.owner->finished(std::move(entry.job));
    lock.lock();
    running_ = nullptr;
    changed_.notify_all();
  }
}

}  // namespace dart
