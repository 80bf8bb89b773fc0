#include "safetensors.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "safetensors_header.h"
#include "widen.h"

namespace tenon::files {

static_assert(std::endian::native == std::endian::little, "safetensors files are little-endian");

namespace {
constexpr uint64_t kLengthBytes = 8;
constexpr uint64_t kMaxHeader = 100'000'000;  // the format's own limit

std::string json_of(const std::string& path, const std::string& name) {
  try {
    return nlohmann::json(name).dump();
  } catch (const nlohmann::json::exception&) {
    raise(TN_INVALID_ARGUMENT, "{}: a tensor's name is not valid UTF-8", path);
  }
}

// Whether the first file of a zip archive is an array of NumPy. Its name begins at byte 30.
bool begins_with_npy(const InputFile& file) {
  constexpr uint64_t kName = 30, kMost = 1000;
  if (file.size() < kName) return false;
  unsigned char length[2] = {};
  file.read_at(kName - 4, length, sizeof(length));
  std::string name(std::min<uint64_t>({length[0] + 256u * length[1], kMost, file.size() - kName}),
                   0);
  file.read_at(kName, name.data(), name.size());
  return name.ends_with(".npy");
}

// Other formats of weights: what torch.save writes (a zip archive, or a pickle before PyTorch 1.6), what
// numpy.savez writes, what llama.cpp reads.
void refuse_others(const std::string& path, const InputFile& file) {
  unsigned char begin[4] = {};
  file.read_at(0, begin, sizeof(begin));
  const bool zip = begin[0] == 'P' && begin[1] == 'K' && begin[2] == 3 && begin[3] == 4;
  if (zip && begins_with_npy(file)) {
    raise(
        TN_INVALID_ARGUMENT,
        "{}: an archive of NumPy, and no safetensors file: load_npz reads it; Python converts it: "
        "safetensors.numpy.save_file(dict(numpy.load('{}')), 'weights.safetensors')",
        path, path);
  }
  if (std::memcmp(begin, "\x93NUM", 4) == 0)
    raise(TN_INVALID_ARGUMENT, "{}: an array of NumPy, and no safetensors file: load_npy reads it",
          path);
  if (std::memcmp(begin, "GGUF", 4) == 0)
    raise(TN_INVALID_ARGUMENT, "{}: a GGUF file, and no safetensors file", path);
  // Protocol 2 to 5, and the opcode with which torch.save's magic number begins.
  const bool pickle = begin[0] == 0x80 && begin[1] >= 2 && begin[1] <= 5 && begin[2] == 0x8a;
  if (!zip && !pickle) return;
  raise(TN_INVALID_ARGUMENT,
        "{}: {}, as torch.save writes it, and no safetensors file; Python converts it: "
        "safetensors.torch.save_file({{name: t.contiguous().clone() for name, t in "
        "torch.load('{}', map_location='cpu', weights_only=True).items()}}, 'weights.safetensors')",
        path, zip ? "a zip archive" : "a pickle", path);
}

}  // namespace

SafetensorsReader::SafetensorsReader(InputFile file) : file_(std::move(file)) {
  const std::string& path = file_.path();
  if (file_.size() < kLengthBytes) {
    raise(TN_DATA_LOSS, "{}: {} bytes, a safetensors file has at least {}", path, file_.size(),
          kLengthBytes);
  }
  uint64_t length = 0;
  file_.read_at(0, &length, kLengthBytes);
  // Read as a length, the beginning of such a file is beyond any header.
  if (length > kMaxHeader) {
    refuse_others(path, file_);
    raise(TN_DATA_LOSS,
          "{}: is no safetensors file: its first {} bytes, read as the length of a header, say {}, "
          "and the format allows {}",
          path, kLengthBytes, length, kMaxHeader);
  }
  if (length > file_.size() - kLengthBytes) {
    raise(TN_DATA_LOSS, "{}: claims a header of {} bytes, {} follow", path, length,
          file_.size() - kLengthBytes);
  }
  std::string header(length, '\0');
  file_.read_at(kLengthBytes, header.data(), length);
  entries_ = parse_header(path, header, kLengthBytes + length, file_.size());
  for (size_t i = 0; i < entries_.size(); ++i) index_.emplace(entries_[i].name, i);
}

const TensorEntry& SafetensorsReader::find(std::string_view name) const {
  const auto found = index_.find(name);
  if (found == index_.end()) {
    raise(TN_NOT_FOUND, "{}: no tensor '{}' among its {}", file_.path(), printable(name),
          entries_.size());
  }
  return entries_[found->second];
}

void SafetensorsReader::read(const TensorEntry& entry, void* memory) const {
  const uint64_t bytes = entry.end - entry.begin, n = bytes / entry.element_bytes;
  // What becomes wider is read into the last bytes.
  auto* values = static_cast<uint8_t*>(memory) + bytes_in_memory(entry) - bytes;
  file_.read_at(entry.begin, values, bytes);
  if (entry.dtype_name[0] == 'U') {
    const std::string name = fmt::format("{}: tensor '{}'", file_.path(), printable(entry.name));
    widen_unsigned(name, memory, entry.element_bytes, n);
  }
  if (entry.dtype_name == "F8_E4M3") widen_float8(memory, 3, n);
  if (entry.dtype_name == "F8_E5M2") widen_float8(memory, 2, n);
  if (entry.dtype != TN_BOOL) return;
  const auto* bad = std::find_if(values, values + bytes, [](uint8_t value) { return value > 1; });
  if (bad != values + bytes) {
    raise(TN_DATA_LOSS, "{}: tensor '{}': byte {} is {}, a bool is 0 or 1", file_.path(),
          printable(entry.name), entry.begin + (bad - values), *bad);
  }
}

std::shared_ptr<const disk::Mapping> SafetensorsReader::mapping() const {
  const std::lock_guard lock(mutex_);
  std::shared_ptr<const disk::Mapping> mapping = mapping_.lock();
  if (mapping == nullptr) mapping_ = mapping = file_.map();
  return mapping;
}

namespace {

struct Plan {
  std::vector<size_t> order;  // of the tensors' bytes
  std::string header;
  uint64_t bytes = 0;  // of the whole file
};

// Of entries whose places are said here.
Plan plan_of(const std::string& path, std::vector<TensorEntry>& entries) {
  // Widest elements first, so that every tensor is aligned in the file, as other writers do.
  std::vector<size_t> order(entries.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, [&](size_t a, size_t b) {
    return element_bytes(entries[a].dtype) > element_bytes(entries[b].dtype);
  });

  // Written as text, without a tree: giving up a tree of this library may need memory.
  std::string text = R"({"__metadata__":{"format":"pt"})";
  std::set<std::string_view> names;
  uint64_t end = 0;
  for (const size_t i : order) {
    TensorEntry& entry = entries[i];
    if (entry.name == "__metadata__" || !names.insert(entry.name).second) {
      raise(TN_INVALID_ARGUMENT, "{}: a tensor cannot be named '{}'{}", path, printable(entry.name),
            entry.name == "__metadata__" ? "" : ": there is one already");
    }
    entry.begin = end;
    end += std::accumulate(entry.shape.begin(), entry.shape.end(), element_bytes(entry.dtype),
                           [](uint64_t bytes, int64_t size) { return bytes * size; });
    entry.end = end;
    text += fmt::format(R"(,{}:{{"dtype":"{}","shape":[{}],"data_offsets":[{},{}]}})",
                        json_of(path, entry.name), find_dtype(entry.dtype)->name,
                        fmt::join(entry.shape, ","), entry.begin, entry.end);
  }
  text += '}';
  text.resize((text.size() + 7) / 8 * 8, ' ');  // the data begins aligned
  const uint64_t length = text.size();
  if (length > kMaxHeader) {
    raise(TN_INVALID_ARGUMENT, "{}: a header of {} bytes, the format allows {}", path, length,
          kMaxHeader);
  }

  return {std::move(order), std::move(text), kLengthBytes + length + end};
}

void write_all(const std::string& path, const Plan& plan, const std::vector<TensorEntry>& entries,
               TensorSource& source, const std::function<void(const void*, uint64_t)>& write) {
  const uint64_t length = plan.header.size();
  write(&length, kLengthBytes);
  write(plan.header.data(), length);
  for (const size_t i : plan.order) {
    const std::string name = fmt::format("{}: tensor '{}'", path, printable(entries[i].name));
    const void* bytes = naming(name, [&] { return source.bytes_of(i); });
    write(bytes, entries[i].end - entries[i].begin);
  }
}

}  // namespace

void write_safetensors(const std::string& path, std::vector<TensorEntry> entries,
                       TensorSource& source) {
  const Plan plan = plan_of(path, entries);
  OutputFile file(path);
  write_all(path, plan, entries, source,
            [&](const void* bytes, uint64_t n) { file.write(bytes, n); });
  file.commit();
}

void write_safetensors(const std::string& name, std::vector<TensorEntry> entries,
                       TensorSource& source, const std::function<void*(uint64_t)>& memory_of) {
  const Plan plan = plan_of(name, entries);
  auto* to = static_cast<char*>(memory_of(plan.bytes));
  write_all(name, plan, entries, source, [&](const void* bytes, uint64_t n) {
    if (n > 0) std::memcpy(to, bytes, n);
    to += n;
  });
}

uint64_t element_bytes(tn_dtype dtype) {
  const DtypeRow* row = find_dtype(dtype);
  if (row == nullptr) {
    raise(TN_UNSUPPORTED, "safetensors: no dtype for number {}", dtype);
  }
  return row->bytes;
}

uint64_t bytes_in_memory(const TensorEntry& entry) {
  const uint64_t bytes = entry.end - entry.begin;
  return entry.dtype == TN_DTYPE_NONE ? bytes
                                      : bytes / entry.element_bytes * element_bytes(entry.dtype);
}

}  // namespace tenon::files
