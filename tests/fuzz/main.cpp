// Options, and two processes: one calls, the other watches it, says which call ended it or took too
// long, and starts another that goes on behind that call.
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string_view>

#include "fuzz.h"
#include "long_form.h"

namespace fuzz {

Shared* shared = nullptr;
Host host;

namespace {

struct Options {
  uint64_t seed = 1;
  int64_t calls = 20;  // of each target
  double seconds = 0;  // 0: until all calls are made
  std::string only;    // part of a target's name, or "=name"
  int64_t call = -1;   // this one alone
  int64_t part = 0, parts = 1;
  int64_t call_seconds = 20;  // of processor time, then a call is reported and ended
  bool repeat_here = false;   // in this process: for debuggers
};
Options options;

// What any number of bytes may take before the library itself has to say that there are not so
// many.
constexpr uint64_t kDeviceBytes = uint64_t{32} << 20;
#ifndef TENON_SANITIZE
constexpr uint64_t kProcessBytes = uint64_t{4} << 30;  // beyond what is mapped at the start
#endif

std::vector<Target> targets() {
  std::vector<Target> all, chosen;
  add_ops(&all);
  add_primitives(&all);
  add_factories(&all);
  add_entries(&all);
  for (size_t i = 0; i < all.size(); ++i) {
    const std::string& name = all[i].name;
    const bool wanted = options.only.starts_with('=')
                            ? name == options.only.substr(1)
                            : name.find(options.only) != std::string::npos;
    if (wanted && static_cast<int64_t>(i) % options.parts == options.part)
      chosen.push_back(std::move(all[i]));
  }
  return chosen;
}

std::string target_name;
bool logged_an_error = false;

// The log goes to stderr. An error there (memory of `ref` that was written where no block is) is
// nobody's return value.
void watch_the_log() {
  cookie_io_functions_t functions{};
  functions.write = [](void*, const char* text, size_t size) -> ssize_t {
    logged_an_error |= std::string_view(text, size).find("tenon error") != std::string_view::npos;
    return write(STDERR_FILENO, text, size);
  };
  stderr = fopencookie(nullptr, "w", functions);
  setvbuf(stderr, nullptr, _IOLBF, BUFSIZ);
}

uint64_t hash(const std::string& text, uint64_t h) {  // FNV-1a
  for (const char c : text) h = (h ^ static_cast<uint8_t>(c)) * 0x100000001b3;
  return h;
}

void make_call(const Target& target, int64_t index) {
  target_name = target.name;
  uninitialized = target.name.find("empty") != std::string::npos;
  shared->call = index;
  shared->text_size = 0;
  shared->text[0] = 0;
  Random random(hash(target.name, 0xcbf29ce484222325 ^ options.seed) +
                static_cast<uint64_t>(index) * 0x9e3779b97f4a7c15);
  host.random->set_state(options.seed, static_cast<uint64_t>(index));
  shared->is_calling = true;
  logged_an_error = false;
  const uint64_t before = live_bytes();
  target.call(&random);
  const uint64_t after = live_bytes();
  if (after != before)
    finding(std::to_string(before) + " bytes lived before the call, " + std::to_string(after) +
            " after it");
  if (logged_an_error) finding("an error was logged");
  shared->is_calling = false;
}

// calls of a target, then of the next: all have had their turn when time is up
constexpr int64_t kRound = 20;

void go_on_behind_it(int64_t n_targets) {
  shared->call = shared->call + 1;
  if (shared->call % kRound != 0) return;
  shared->call = shared->call - kRound;
  shared->target = shared->target + 1;
  if (shared->target < n_targets) return;
  shared->target = 0;
  shared->call = shared->call + kRound;
}

// From the call that `shared` names. Never returns.
[[noreturn]] void run(const std::vector<Target>& all, std::chrono::steady_clock::time_point end) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
#ifndef TENON_SANITIZE
  uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  const uint64_t bytes = pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE)) + kProcessBytes;
  const rlimit limit{bytes, bytes};
  setrlimit(RLIMIT_AS, &limit);
#endif
  const rlimit none{0, 0};
  setrlimit(RLIMIT_CORE, &none);
  const auto n = static_cast<int64_t>(all.size());
  int64_t target = shared->target, call = shared->call;
  for (int64_t round = call / kRound; round * kRound < options.calls; ++round) {
    for (; target < n; ++target) {
      shared->target = target;
      for (; call < std::min(options.calls, (round + 1) * kRound); ++call) {
        if (options.seconds > 0 && std::chrono::steady_clock::now() > end) _exit(0);
        make_call(all[static_cast<size_t>(target)], call);
      }
      call = round * kRound;
    }
    target = 0;
    call = (round + 1) * kRound;
  }
  _exit(0);
}

double processor_seconds(pid_t process) {
  clockid_t clock;
  timespec t{};
  if (clock_getcpuclockid(process, &clock) != 0 || clock_gettime(clock, &t) != 0) return 0;
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

std::string report(const std::string& what, const std::string& name) {
  return "\n*** " + what + "\n  " + name + "  " + std::string(shared->text, shared->text_size) +
         "\n  again: tenon_fuzz --seed " + std::to_string(options.seed) + " --only '=" + name +
         "' --call " + std::to_string(shared->call) + "\n";
}

// Waits for the process that calls. True: it is done; false: it ended in a call, which is behind
// `shared` now.
bool watch(pid_t process, const std::vector<Target>& all) {
  int64_t target = -1, call = -1;
  double since = 0;
  bool too_long = false;
  for (;;) {
    int status = 0;
    if (waitpid(process, &status, WNOHANG) == process) {
      if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return true;
      const std::string& name = all[static_cast<size_t>(shared->target)].name;
      const std::string end = WIFSIGNALED(status) ? strsignal(WTERMSIG(status))
                                                  : "exit " + std::to_string(WEXITSTATUS(status));
      std::printf("%s", report(too_long ? "more than " + std::to_string(options.call_seconds) + " s"
                                        : "the process ended: " + end,
                               name)
                            .c_str());
      std::fflush(stdout);
      ++(too_long ? shared->counts.slow : shared->counts.crashes);
      go_on_behind_it(static_cast<int64_t>(all.size()));
      return false;
    }
    const double now = processor_seconds(process);
    if (target != shared->target || call != shared->call || !shared->is_calling) {
      target = shared->target;
      call = shared->call;
      since = now;
    } else if (!too_long && now - since > static_cast<double>(options.call_seconds)) {
      too_long = true;
      kill(process, SIGKILL);
    }
    usleep(20000);
  }
}

bool read_options(int n, char** words) {
  for (int i = 1; i < n; ++i) {
    const std::string word = words[i];
    const char* next = i + 1 < n ? words[i + 1] : nullptr;
    if (word == "--here") {
      options.repeat_here = true;
      continue;
    }
    if (next == nullptr) return false;
    ++i;
    if (word == "--seed")
      options.seed = std::strtoull(next, nullptr, 10);
    else if (word == "--calls")
      options.calls = std::atoll(next);
    else if (word == "--seconds")
      options.seconds = std::atof(next);
    else if (word == "--only")
      options.only = next;
    else if (word == "--call")
      options.call = std::atoll(next);
    else if (word == "--call-seconds")
      options.call_seconds = std::atoll(next);
    else if (word == "--part") {
      if (std::sscanf(next, "%ld/%ld", &options.part, &options.parts) != 2 || options.parts < 1)
        return false;
    } else
      return false;
  }
  return true;
}

}  // namespace

uint64_t Random::next() {
  uint64_t z = state_ += 0x9e3779b97f4a7c15;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
  z = (z ^ z >> 27) * 0x94d049bb133111eb;
  return z ^ z >> 31;
}

void note(const std::string& text) {
  const size_t room = sizeof shared->text - 1 - shared->text_size, n = std::min(room, text.size());
  std::memcpy(shared->text + shared->text_size, text.data(), n);
  shared->text_size += n;
  shared->text[shared->text_size] = 0;
}

void finding(const std::string& what) {
  ++shared->counts.findings;
  std::printf("%s", report(what, target_name).c_str());
  std::fflush(stdout);
}

void load_host() {
  host.table = tenon_host(TN_ABI_VERSION, nullptr);
  const auto get = [](const char* name) { return host.table->get_interface(name); };
  host.tensor = static_cast<const tn_tensor_api*>(get("tensor/1"));
  host.device = static_cast<const tn_device_api*>(get("device/1"));
  host.autograd = static_cast<const tn_autograd_api*>(get("autograd/1"));
  host.random = static_cast<const tn_random_api*>(get("random/1"));
  host.amp = static_cast<const tn_amp_api*>(get("amp/1"));
  host.object = static_cast<const tn_object_api*>(get("object/1"));
  host.plugin = static_cast<const tn_plugin_api*>(get("plugin/1"));
  host.explain = static_cast<const tn_explain_api*>(get("explain/1"));
  checked(host.plugin->load_all());
  if (tn_status* none = host.device->parse("ref", &host.ref)) {
    host.table->status_free(none);
    host.ref = {TN_DEVICE_CPU, 0};
  }
  for (const tn_device d : {tn_device{TN_DEVICE_CPU, 0}, host.ref})
    checked(host.device->set_memory_limit(d, kDeviceBytes));
}

}  // namespace fuzz

int main(int n, char** words) {
  using namespace fuzz;
  if (long_form()) {
    options.calls = INT64_MAX / 2;
    options.seconds = 60;
  }
  if (!read_options(n, words)) {
    std::fprintf(stderr,
                 "tenon_fuzz [--seed N] [--calls N] [--seconds N] [--only PART|=NAME] [--call N "
                 "[--here]] [--part I/N] "
                 "[--call-seconds N]\n");
    return 2;
  }
  void* memory =
      mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  shared = new (memory) Shared{};
  const auto end = std::chrono::steady_clock::now() +
                   std::chrono::milliseconds(static_cast<int64_t>(options.seconds * 1000));
  watch_the_log();
  load_host();
  const std::vector<Target> all = targets();
  // Factories of files write where they are.
  char folder[] = "/tmp/tenon_fuzz.XXXXXX";
  if (mkdtemp(folder) == nullptr || chdir(folder) != 0) return 2;
  if (options.call >= 0) {
    for (size_t i = 0; i < all.size(); ++i) {
      shared->target = static_cast<int64_t>(i);
      if (!options.repeat_here) {
        const pid_t process = fork();
        if (process == 0) {
          make_call(all[i], options.call);
          std::printf("%s  %s\n", all[i].name.c_str(), shared->text);
          std::fflush(stdout);
          _exit(0);
        }
        shared->call = options.call;
        watch(process, all);
      } else {
        make_call(all[i], options.call);
      }
    }
  } else {
    for (bool done = false; !done;) {
      std::fflush(stdout);
      const pid_t process = fork();
      if (process < 0) return 2;
      if (process == 0) run(all, end);
      done = watch(process, all);
    }
  }
  std::filesystem::remove_all(folder);
  const Counts& c = shared->counts;
  std::printf(
      "tenon_fuzz: seed %lu, %zu targets, %lu calls: %lu succeeded, %lu refused; %lu backwards; "
      "%lu findings, %lu ended the "
      "process, %lu too long\n",
      options.seed, all.size(), c.calls, c.successes, c.refusals, c.backwards, c.findings,
      c.crashes, c.slow);
  return c.findings + c.crashes + c.slow == 0 ? 0 : 1;
}
