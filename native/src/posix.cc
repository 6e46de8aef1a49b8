/* Two system calls that Node does not offer: an advisory file lock and a look at a pipe whose reader may have left. */
#include <poll.h>
#include <sys/file.h>

#include <cerrno>
#include <cstring>

#include "arguments.h"
#include "operations.h"

namespace dart {

/* flock(2), exclusive: true when taken, false when another holds it and nonblocking is set. Closing the file frees it. */
Napi::Value lock_file(const Napi::CallbackInfo &info) {
  const Arguments in(info);
  const int wait = in.value("nonblocking").ToBoolean().Value() ? LOCK_NB : 0;
  int status;
  do status = flock(static_cast<int>(in.integer("fd")), LOCK_EX | wait);
  while (status != 0 && errno == EINTR);
  if (status != 0 && errno != EWOULDBLOCK) throw Napi::Error::New(info.Env(), std::string("flock: ") + std::strerror(errno));
  return Napi::Boolean::New(info.Env(), status == 0);
}

/* poll(2) without waiting: true when the other end of a pipe or socket is gone. */
Napi::Value poll_hangup(const Napi::CallbackInfo &info) {
  const Arguments in(info);
  pollfd entry = {static_cast<int>(in.integer("fd")), 0, 0};
  int ready;
  do ready = poll(&entry, 1, 0);
  while (ready < 0 && errno == EINTR);
  if (ready < 0) throw Napi::Error::New(info.Env(), std::string("poll: ") + std::strerror(errno));
  if ((entry.revents & POLLNVAL) != 0) throw Napi::Error::New(info.Env(), "poll: the file descriptor is not open");
  return Napi::Boolean::New(info.Env(), (entry.revents & (POLLERR | POLLHUP)) != 0);
}

}  // namespace dart
