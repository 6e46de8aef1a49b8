#include "threads.h"

#include <signal.h>
#if defined(__linux__)
#include <sched.h>
#endif

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <vector>

namespace dart {
namespace {

/* One call's work; pieces are taken in order by whoever is free. */
struct Job {
  Piece piece;
  const void *context;
  int64_t items, each;
  std::atomic<int64_t> next{0};

  void work() {
    for (int64_t begin; (begin = next.fetch_add(each)) < items;) piece(context, begin, std::min(begin + each, items));
  }
};

int cores() {
#if defined(__linux__)
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) == 0) return std::max(1, CPU_COUNT(&allowed));
#endif
  return std::max(1u, std::thread::hardware_concurrency());
}

/* DART_NUM_THREADS, where it is a number; else the cores. */
int default_count() {
  const char *text = std::getenv("DART_NUM_THREADS");
  const long wanted = text == nullptr ? 0 : std::strtol(text, nullptr, 10);
  return wanted >= 1 && wanted <= kMostThreads ? static_cast<int>(wanted) : cores();
}

/*
 * Helpers sleep until a job is there, take pieces of it, and sleep again. The caller works too and waits only for
 * helpers that have begun: one that wakes late, or never (after a fork), holds nobody up.
 */
class Pool {
 public:
  int count() const { return count_; }

  void resize(int threads) {
    const std::lock_guard<std::mutex> own(user_);
    if (threads < count_) stop();
    count_ = threads;
  }

  /* False when another thread is using the pool. */
  bool run(Job &job) {
    const std::unique_lock<std::mutex> own(user_, std::try_to_lock);
    if (!own.owns_lock()) return false;
    start();
    {
      const std::lock_guard<std::mutex> lock(guard_);
      job_ = &job;
      turn_++;
    }
    wake_.notify_all();
    job.work();
    std::unique_lock<std::mutex> lock(guard_);
    job_ = nullptr;
    done_.wait(lock, [this] { return busy_ == 0; });
    return true;
  }

 private:
  void help() {
    std::unique_lock<std::mutex> lock(guard_);
    for (uint64_t seen = 0;;) {
      wake_.wait(lock, [&] { return stopping_ || (job_ != nullptr && turn_ != seen); });
      if (stopping_) return;
      seen = turn_;
      Job *job = job_;
      busy_++;
      lock.unlock();
      job->work();
      lock.lock();
      if (--busy_ == 0) done_.notify_one();
    }
  }

  /* Helpers take no signals: those are for the program's own threads. */
  void start() {
    if (static_cast<int>(helpers_.size()) + 1 >= count_) return;
    sigset_t every, before;
    sigfillset(&every);
    pthread_sigmask(SIG_SETMASK, &every, &before);
    try {
      while (static_cast<int>(helpers_.size()) + 1 < count_) helpers_.emplace_back(&Pool::help, this);
    } catch (const std::system_error &) {
      /* The system grants no more: fewer do the same work. */
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

  void stop() {
    {
      const std::lock_guard<std::mutex> lock(guard_);
      stopping_ = true;
    }
    wake_.notify_all();
    for (std::thread &helper : helpers_) helper.join();
    helpers_.clear();
    stopping_ = false;
  }

  std::mutex user_; /* held by the thread whose job it is */
  std::mutex guard_;
  std::condition_variable wake_, done_;
  std::vector<std::thread> helpers_;
  std::atomic<int> count_{default_count()};
  Job *job_ = nullptr;
  uint64_t turn_ = 0; /* counts jobs: a helper takes part in each once */
  int busy_ = 0;
  bool stopping_ = false;
};

/* Never destroyed: helpers sleep on it until the process is gone, whatever the order in which it is taken down. */
Pool &pool() {
  static Pool *only = new Pool;
  return *only;
}

struct Freed {
  void operator()(float *memory) const { ::operator delete[](memory, std::align_val_t(64)); }
};

}  // namespace

void run_pieces(int64_t items, int64_t each, int64_t work, Piece piece, const void *context) {
  Job job{piece, context, items, each};
  if (items <= each || work < kWorthWaking || pool().count() == 1 || !pool().run(job)) job.work();
}

int thread_count() { return pool().count(); }
void set_thread_count(int threads) { pool().resize(threads == 0 ? cores() : threads); }

float *thread_scratch(int64_t size) {
  thread_local std::unique_ptr<float[], Freed> memory;
  thread_local int64_t capacity = 0;
  if (size <= capacity) return memory.get();
  memory.reset();
  memory.reset(static_cast<float *>(::operator new[](static_cast<size_t>(size) * sizeof(float), std::align_val_t(64), std::nothrow)));
  capacity = memory == nullptr ? 0 : size;
  return memory.get();
}

}  // namespace dart
