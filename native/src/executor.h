/*
 * The thread that promised calls run on, one for the process, started with the first: libuv's few threads stay free for
 * files and names. Calls run one after another in the order of their making, since each uses all the kernels' threads.
 */
#ifndef DART_EXECUTOR_H
#define DART_EXECUTOR_H

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>

namespace dart {

class Job {
 public:
  virtual ~Job() = default;
  virtual void run() noexcept = 0;
};

/* Gets its jobs back when they are done. */
class JobOwner {
 public:
  virtual void finished(std::unique_ptr<Job> job) noexcept = 0;

 protected:
  ~JobOwner() = default;
};

class Executor {
 public:
  /* Lives as long as the process: its thread may be at work when the process ends. */
  static Executor &shared();

  void submit(JobOwner *owner, std::unique_ptr<Job> job);
  /* Takes back what of the owner's has not begun, and waits for what has. The owner hears of nothing afterwards. */
  std::deque<std::unique_ptr<Job>> withdraw(JobOwner *owner);

 private:
  struct Entry {
    JobOwner *owner;
    std::unique_ptr<Job> job;
  };

  void loop();

  std::mutex guard_;
  std::condition_variable changed_;
  std::deque<Entry> waiting_;
  JobOwner *running_ = nullptr;
  bool started_ = false;
};

}  // namespace dart

#endif
