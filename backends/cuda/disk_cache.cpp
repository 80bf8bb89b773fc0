#include "disk_cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string_view>
#include <utility>
#include <vector>

#include "driver.h"
#include "tenon/disk.hpp"

namespace cuda {
namespace {

constexpr char kVersion[] = "tenon cuda " TENON_CUDA_PLUGIN_VERSION "\n";
constexpr std::string_view kPrefix = "cuda-", kUnfinished = ".part";
constexpr uint64_t kMostEntryBytes = uint64_t{256} << 20;
constexpr uint64_t kMostMebibytes = 1024;  // of all entries, where TENON_CUDA_CACHE does not say
constexpr time_t kDay = 24 * 60 * 60;

// How a file begins; the key and the value follow. Numbers are in the order of the machine that
// wrote them, whose GPUs it is for.
struct Header {
  char magic[16] = "tenon cache 1\n";
  uint64_t key_bytes = 0, value_bytes = 0, checksum = 0;
};

// FNV-1a of 64 bits.
uint64_t hash(std::string_view text, uint64_t start = 0xcbf29ce484222325u) {
  for (const char c : text) start = (start ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return start;
}

// ---- What the log is told, once of each kind

struct Note {
  std::atomic<bool> said = false;

  void say(const std::string& path, const std::string& what) {
    if (!said.exchange(true)) host->log(2, ("cuda: " + path + ": " + what).c_str());
  }
};
Note folder_note, entry_note, writing_note, limit_note;

constexpr char kNoCache[] = ", so what is compiled is not kept on disk";
constexpr char kMadeAnew[] = ", so it is not read, and made anew";

// ---- Where the cache is, and how much it may have

struct Folder {
  int fd = -1;
  std::string path;

  Folder() = default;
  Folder(Folder&& other) noexcept : fd(std::exchange(other.fd, -1)), path(std::move(other.path)) {}
  ~Folder() {
    if (fd >= 0) ::close(fd);
  }
};

// TENON_CUDA_CACHE in bytes; 0: there is no cache.
uint64_t most_bytes() {
  const char* wish = std::getenv("TENON_CUDA_CACHE");
  uint64_t mebibytes = kMostMebibytes;
  if (wish && *wish) {
    char* end = nullptr;
    errno = 0;
    mebibytes = std::strtoull(wish, &end, 10);
    if (*end || errno || wish[0] == '-' || mebibytes > UINT64_MAX >> 20) {
      limit_note.say(std::string("TENON_CUDA_CACHE=") + wish,
                     "is no number of MiB, so 1024 are taken; 0 switches the cache off");
      mebibytes = kMostMebibytes;
    }
  }
  return mebibytes << 20;
}

// Empty: nobody says where. A privileged process reads nothing that its user may have laid there.
std::string base_folder(bool makes) {
  const char* base = ::secure_getenv("XDG_CACHE_HOME");
  if (base && base[0] == '/') {
    if (makes) ::mkdir(base, 0700);
    return base;
  }
  const char* home = ::secure_getenv("HOME");
  if (!home || home[0] != '/') return "";
  std::string folder = std::string(home) + "/.cache";
  if (makes) ::mkdir(folder.c_str(), 0700);
  return folder;
}

// A file or folder of this user, that nobody else can write.
const char* why_not_ours(const struct stat& found) {
  if (found.st_uid != ::geteuid()) return "belongs to another user";
  return found.st_mode & (S_IWGRP | S_IWOTH) ? "can be written by others" : nullptr;
}

// The descriptor is -1 where there is no cache, or where there is none yet and it is not to be made.
Folder open_folder(bool makes) {
  Folder folder;
  if (most_bytes() == 0) return folder;
  const std::string base = base_folder(makes);
  if (base.empty()) return folder;
  folder.path = base + "/tenon";
  const bool failed = makes && ::mkdir(folder.path.c_str(), 0700) != 0 && errno != EEXIST;
  const int making = errno;
  const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  const int fd = tenon::disk::above_streams(::open(folder.path.c_str(), flags));
  if (fd < 0 && errno == ENOENT && !makes) return folder;
  std::string why;
  struct stat found {};
  if (fd < 0) {
    const int error = failed ? making : errno;
    why = error == ELOOP || error == ENOTDIR
              ? "is a link or no folder"
              : std::string(failed ? "cannot be made: " : "cannot be opened: ") +
                    std::strerror(error);
  } else if (::fstat(fd, &found) != 0) {
    why = std::string("cannot be looked at: ") + std::strerror(errno);
  } else if (const char* foreign = why_not_ours(found)) {
    why = foreign;
  }
  if (why.empty()) {
    folder.fd = fd;
  } else {
    folder_note.say(folder.path, why + kNoCache);
    if (fd >= 0) ::close(fd);
  }
  return folder;
}

std::string name_of(const std::string& key) {
  char digits[17];
  std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(hash(key)));
  return std::string(kPrefix) + digits;
}

// ---- Reading

bool read_whole(int fd, std::string* text) {
  for (size_t done = 0; done < text->size();) {
    const ssize_t n = ::read(fd, text->data() + done, text->size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    done += static_cast<size_t>(n);
  }
  return true;
}

// Why a file is no entry; NULL: it is one, though `value` is that of another key where `key` differs.
const char* parse(const std::string& text, std::string* key, std::string* value) {
  Header header;
  if (text.size() < sizeof header) return "is cut";
  std::memcpy(&header, text.data(), sizeof header);
  if (std::memcmp(header.magic, Header().magic, sizeof header.magic) != 0)
    return "is no entry of the cache";
  const uint64_t bytes = text.size() - sizeof header;
  if (header.key_bytes > bytes || header.value_bytes != bytes - header.key_bytes) return "is cut";
  const std::string_view contents = std::string_view(text).substr(sizeof header);
  if (hash(contents) != header.checksum) return "is damaged";
  *key = contents.substr(0, header.key_bytes);
  *value = contents.substr(header.key_bytes);
  return nullptr;
}

// An entry that is used stays: those that go are the ones that were not, for the longest time.
void mark_used(int fd, const struct stat& found) {
  if (::time(nullptr) - found.st_mtime > kDay) ::futimens(fd, nullptr);
}

bool read_entry(int fd, const std::string& key, std::string* value, std::string* why) {
  struct stat found {};
  if (::fstat(fd, &found) != 0 || !S_ISREG(found.st_mode)) return *why = "is no file", false;
  if (const char* foreign = why_not_ours(found)) return *why = foreign, false;
  if (found.st_size < 0 || static_cast<uint64_t>(found.st_size) > kMostEntryBytes)
    return *why = "is too large", false;
  std::string text(static_cast<size_t>(found.st_size), '\0'), its_key;
  if (!read_whole(fd, &text)) return *why = "cannot be read", false;
  if (const char* damage = parse(text, &its_key, value)) return *why = damage, false;
  if (its_key != key) return false;  // one name for two keys: the later one takes it
  mark_used(fd, found);
  return true;
}

// ---- Writing

bool write_whole(int fd, const std::string& text) {
  struct rlimit limit {};  // behind it a signal would end the process
  if (::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < text.size())
    return errno = EFBIG, false;
  for (size_t done = 0; done < text.size();) {
    const ssize_t n = ::write(fd, text.data() + done, text.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    done += static_cast<size_t>(n);
  }
  return true;
}

// Under a name of its own, then renamed: readers meet a whole file or none. It is not flushed to the
// disk, since what a crash of the machine leaves in part is found out by the checksum.
bool write_entry(const Folder& folder, const std::string& name, const std::string& text) {
  uint64_t random = 0;
  if (::getrandom(&random, sizeof random, GRND_NONBLOCK) != ssize_t{sizeof random})
    random = static_cast<uint64_t>(::getpid()) << 32 ^ reinterpret_cast<uintptr_t>(&random);
  const std::string other = name + "." + std::to_string(random) + std::string(kUnfinished);
  const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  const int fd =
      tenon::disk::above_streams(::openat(folder.fd, other.c_str(), flags, S_IRUSR | S_IWUSR));
  if (fd < 0) return false;
  bool done = write_whole(fd, text);
  int error = errno;
  if (::close(fd) != 0 && done) done = false, error = errno;
  if (done && ::renameat(folder.fd, other.c_str(), folder.fd, name.c_str()) != 0)
    done = false, error = errno;
  if (!done) ::unlinkat(folder.fd, other.c_str(), 0);
  errno = error;
  return done;
}

// ---- What goes

struct Entry {
  struct timespec used;
  uint64_t bytes;
  std::string name;

  bool operator<(const Entry& other) const {
    return std::pair(used.tv_sec, used.tv_nsec) < std::pair(other.used.tv_sec, other.used.tv_nsec);
  }
};

std::vector<Entry> list_entries(int folder) {
  std::vector<Entry> entries;
  const int again = ::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* open = again < 0 ? nullptr : ::fdopendir(again);
  if (!open && again >= 0) ::close(again);
  while (const dirent* entry = open ? ::readdir(open) : nullptr) {
    const std::string name = entry->d_name;
    struct stat found {};
    if (!name.starts_with(kPrefix) ||
        ::fstatat(folder, name.c_str(), &found, AT_SYMLINK_NOFOLLOW) != 0)
      continue;
    // What a process that was killed left behind.
    if (name.ends_with(kUnfinished) && ::time(nullptr) - found.st_mtime > kDay) {
      ::unlinkat(folder, name.c_str(), 0);
      continue;
    }
    entries.push_back({found.st_mtim, static_cast<uint64_t>(found.st_size), name});
  }
  if (open) ::closedir(open);
  return entries;
}

void remove_oldest(int folder, uint64_t most) {
  std::vector<Entry> entries = list_entries(folder);
  uint64_t bytes = 0;
  for (const Entry& entry : entries) bytes += entry.bytes;
  if (bytes <= most) return;
  std::sort(entries.begin(), entries.end());
  for (const Entry& entry : entries) {
    if (bytes <= most - most / 8) return;  // some room, so that the next one need not look again
    ::unlinkat(folder, entry.name.c_str(), 0);
    bytes -= entry.bytes;
  }
}

// Looks at the folder at the first entry of this process, and whenever it wrote a part of the limit.
void keep_within(const Folder& folder, uint64_t bytes) {
  static std::atomic<uint64_t> written = 0;
  const uint64_t most = most_bytes(), step = std::max<uint64_t>(most / 16, 1);
  const uint64_t before = written.fetch_add(bytes);
  if (before == 0 || before / step != (before + bytes) / step) remove_oldest(folder.fd, most);
}

}  // namespace

bool find_cached(const std::string& key, std::string* value) {
  const Folder folder = open_folder(false);
  if (folder.fd < 0) return false;
  const std::string full = kVersion + key, name = name_of(full);
  const int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
  const int fd = tenon::disk::above_streams(::openat(folder.fd, name.c_str(), flags));
  if (fd < 0 && errno == ENOENT) return false;
  std::string why;
  bool found = false;
  if (fd >= 0) {
    found = read_entry(fd, full, value, &why);
    ::close(fd);
  } else {
    why = errno == ELOOP ? "is a link" : std::string("cannot be opened: ") + std::strerror(errno);
  }
  if (!why.empty()) entry_note.say(folder.path + "/" + name, why + kMadeAnew);
  return found;
}

void keep_cached(const std::string& key, const std::string& value) {
  const Folder folder = open_folder(true);
  if (folder.fd < 0) return;
  const std::string full = kVersion + key;
  Header header;
  header.key_bytes = full.size();
  header.value_bytes = value.size();
  header.checksum = hash(value, hash(full));
  std::string text(reinterpret_cast<const char*>(&header), sizeof header);
  text += full;
  text += value;
  if (text.size() > std::min(kMostEntryBytes, most_bytes())) return;
  if (write_entry(folder, name_of(full), text)) return keep_within(folder, text.size());
  writing_note.say(folder.path,
                   std::string("cannot be written: ") + std::strerror(errno) + kNoCache);
}

}  // namespace cuda
