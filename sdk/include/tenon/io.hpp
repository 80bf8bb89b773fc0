// Saving and loading tensors in the safetensors format, in files, streams and memory, and in those of
// NumPy, and reading IDX files, by the plugin `files`. Files of the Python world load as they are, and theirs load ours.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "tenon/messages.hpp"
#include "tenon/object.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {

namespace detail {

// f(names, tensors) of what is saved. `call` begins an Error.
template <typename F>
auto with_names(const char* call, const NamedTensors& tensors, F f) {
  std::vector<const char*> names;
  std::vector<Tensor> list;
  for (const auto& [name, tensor] : tensors) {
    if (name.find('\0') != name.npos) {
      fail(joined({call, ": the name of tensor ", std::to_string(list.size()),
                   " has a zero byte behind '", name.c_str(), "'"}));
    }
    if (!tensor.defined())
      fail(joined({call, ": tensor '", messages::printable(name), "' is None"}));
    names.push_back(name.c_str());
    list.push_back(tensor);
  }
  tn_value strings = make_value(TN_KIND_STRINGS, uint32_t(names.size()));
  strings.as.strings = names.data();
  return f(strings, list);
}

inline void save_all(const char* call, const Object& writer, const NamedTensors& tensors) {
  with_names(call, tensors, [&](const tn_value& names, const std::vector<Tensor>& list) {
    writer.invoke<void>("save", names, list);
  });
}

template <typename T>
concept HasState = requires(const T& x) {
  { x.state_dict() } -> std::convertible_to<NamedTensors>;
};
// What has no names of its own.
template <typename T>
concept Unnamed = std::is_base_of_v<Tensor, T> || std::is_same_v<T, std::vector<Tensor>>;
// Of std::ostream and std::istream, whose headers would make each program compile longer.
template <typename S>
concept Output = requires(S& stream, const char* bytes) {
  stream.write(bytes, std::ptrdiff_t{}).flush();
};
template <typename S>
concept Input = requires(S& stream, char* bytes) {
  stream.read(bytes, std::ptrdiff_t{}).gcount();
};

// A tensor is named "tensor", those of a list by their places.
template <typename T>
NamedTensors named_tensors(const T& x) {
  if constexpr (std::is_base_of_v<Tensor, T>) {
    return {{"tensor", Tensor(x)}};
  } else if constexpr (Unnamed<T>) {
    NamedTensors named;
    for (const Tensor& tensor : x) named.emplace_back(std::to_string(named.size()), tensor);
    return named;
  } else {
    return NamedTensors(x.state_dict());
  }
}

inline void take_tensors(const NamedTensors& read, Tensor& x) {
  if (read.size() != 1) {
    fail(joined({"load: ", std::to_string(read.size()), " tensors are there, expected one"}));
  }
  x = read[0].second;
}
inline void take_tensors(const NamedTensors& read, std::vector<Tensor>& list) {
  std::vector<Tensor> found(read.size());
  for (const auto& [name, tensor] : read) {
    size_t place = 0;
    while (place < found.size() && name != std::to_string(place)) ++place;
    if (place == found.size() || found[place].defined()) {
      fail(joined({"load: a tensor is named '", name, "', expected the places of a list, '0' to '",
                   std::to_string(read.size() - 1), "'"}));
    }
    found[place] = tensor;
  }
  list = std::move(found);
}

}  // namespace detail

// Writes the file whole or not at all, in the safetensors format. Tensors of any device and layout;
// dtypes and values stay as they are.
inline void save(const NamedTensors& tensors, const std::string& path) {
  detail::save_all("save", Object::create("SafetensorsWriter", path), tensors);
}

// What a model has, or anything else with a state_dict: save(model, path), and load(model, path) of
// such a file. An Error lists what does not fit.
template <detail::HasState T>
void save(const T& x, const std::string& path) {
  save(NamedTensors(x.state_dict()), path);
}
// One tensor, or a std::vector of them: save(x, path), and load(x, path) of such a file.
template <detail::Unnamed T>
void save(const T& x, const std::string& path) {
  save(detail::named_tensors(x), path);
}

// save({x, y}, path). A template, so that names and tensors in braces are NamedTensors.
template <std::same_as<std::initializer_list<Tensor>> L = std::initializer_list<Tensor>>
void save(L list, const std::string& path) {
  save(std::vector<Tensor>(list), path);
}

namespace detail {
inline std::string bytes_of(const char* call, const NamedTensors& tensors) {
  const Object writer = Object::create("SafetensorsWriter", call);
  const Tensor bytes =
      with_names(call, tensors, [&](const tn_value& names, const std::vector<Tensor>& list) {
        return writer.invoke("bytes", names, list);
      });
  return {static_cast<const char*>(bytes.get()->data), size_t(bytes.numel())};
}
}  // namespace detail

// The bytes that such a file would have, in memory.
inline std::string save_bytes(const NamedTensors& tensors) {
  return detail::bytes_of("save_bytes", tensors);
}
template <typename T>
requires(detail::HasState<T> || detail::Unnamed<T>) std::string save_bytes(const T& x) {
  return save_bytes(detail::named_tensors(x));
}

// To a std::ostream, which is an Error where it does not take all of them. What is saved to it next
// lies behind, and is loaded next.
template <detail::Output S>
void save(const NamedTensors& tensors, S& stream) {
  const std::string bytes = detail::bytes_of("save", tensors);
  stream.write(bytes.data(), std::ptrdiff_t(bytes.size())).flush();
  if (!stream) fail("save: the stream did not take all bytes");
}
template <typename T, detail::Output S>
requires(detail::HasState<T> || detail::Unnamed<T>) void save(const T& x, S& stream) {
  save(detail::named_tensors(x), stream);
}

// Reads one tensor of a safetensors file, to the cpu; an Error where there is none of this name.
inline Tensor load(const std::string& path, TextRef name) {
  return Object::create("SafetensorsFile", path).invoke("tensor", name);
}

// Reads the array of an IDX file, the format of the MNIST files, packed by gzip or not.
inline Tensor load_idx(const std::string& path) {
  return Object::create("IdxFile", path).invoke("tensor");
}

namespace detail {

// What `method` of the file gives for each of its names.
inline NamedTensors all_of(const Object& file, const char* method) {
  tn_value names = file.invoke<tn_value>("names");
  NamedTensors tensors;
  try {
    for (uint32_t i = 0; i < names.count; ++i) {
      const char* name = names.as.strings[i];
      tensors.emplace_back(name, file.invoke(method, name));
    }
  } catch (...) {
    host()->value_release(&names);
    throw;
  }
  host()->value_release(&names);
  return tensors;
}

}  // namespace detail

// Reads every tensor of the file, to the cpu, in the file's order. An Error says where a damaged
// file is wrong.
inline NamedTensors load(const std::string& path) {
  return detail::all_of(Object::create("SafetensorsFile", path), "tensor");
}

namespace detail {
inline NamedTensors tensors_of(const char* call, std::string_view bytes) {
  const Tensor copy =
      Tensor::from(std::span(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()));
  return all_of(Object::create("SafetensorsBytes", copy, call), "tensor");
}
// The bytes of data behind a header: the largest end of a tensor. Who reads the tensors checks the rest.
inline uint64_t bytes_behind(std::string_view header) {
  uint64_t most = 0;
  constexpr std::string_view kKey = "\"data_offsets\"";  // within a name its quotes are escaped
  for (size_t at = header.find(kKey); at != header.npos; at = header.find(kKey, at)) {
    at += kKey.size();
    const size_t end =
        std::min(header.find_first_not_of(" \t\r\n:[,0123456789", at), header.size());
    const size_t comma = header.substr(at, end - at).find(',');
    uint64_t last = 0;
    for (size_t i = comma == header.npos ? end : at + comma; i < end; ++i) {
      if (header[i] >= '0' && header[i] <= '9' && last < UINT64_MAX / 16)
        last = last * 10 + uint64_t(header[i] - '0');
    }
    most = std::max(most, last);
  }
  return most;
}
}  // namespace detail

// The same of bytes in memory, which are those of a safetensors file.
inline NamedTensors load_bytes(std::string_view bytes) {
  return detail::tensors_of("load_bytes", bytes);
}
// The same of a std::istream: as many bytes as one save wrote. What lies behind stays to be read.
template <detail::Input S>
NamedTensors load(S& stream) {
  // Its end is no error, whatever the stream throws of.
  const auto exceptions = stream.exceptions();
  stream.exceptions({});
  std::string bytes;
  const auto read = [&](uint64_t more) {
    std::vector<char> piece(size_t(std::min<uint64_t>(more, 1 << 16)));
    while (more > 0 && stream) {
      stream.read(piece.data(), std::ptrdiff_t(std::min<uint64_t>(more, piece.size())));
      bytes.append(piece.data(), size_t(stream.gcount()));
      more -= uint64_t(stream.gcount());
    }
    return more == 0;
  };
  uint64_t header = 0;
  if (read(8)) {
    for (int i = 8; i-- > 0;) header = header << 8 | uint8_t(bytes[size_t(i)]);
    if (read(header)) read(detail::bytes_behind(std::string_view(bytes).substr(8)));
  }
  if (stream.bad()) fail("load: the stream cannot be read to its end", TN_DATA_LOSS);
  if (exceptions != stream.exceptions()) stream.clear();
  stream.exceptions(exceptions);
  return detail::tensors_of("load", bytes);
}

namespace detail {

template <typename T>
concept Loads = requires(T& x, const NamedTensors& state) {
  x.load_state_dict(state);
};
template <typename T>
void put(T& x, const NamedTensors& read) {
  if constexpr (Unnamed<T>) {
    take_tensors(read, x);
  } else {
    x.load_state_dict(read);
  }
}

}  // namespace detail

// Into what save(x, ..) took: a model gets the values; a tensor or a list of them is one that was
// read.
template <typename T>
requires(detail::Loads<T> || detail::Unnamed<T>) void load(T& x, const std::string& path) {
  detail::put(x, load(path));
}
template <detail::Loads T>
void load(const T& x, const std::string& path) {
  detail::put(x, load(path));
}
template <typename T, detail::Input S>
requires(detail::Loads<T> || detail::Unnamed<T>) void load(T& x, S& stream) {
  detail::put(x, load(stream));
}
template <detail::Loads T, detail::Input S>
void load(const T& x, S& stream) {
  detail::put(x, load(stream));
}
template <typename T>
requires(detail::Loads<T> || detail::Unnamed<T>) void load_bytes(T& x, std::string_view bytes) {
  detail::put(x, load_bytes(bytes));
}
template <detail::Loads T>
void load_bytes(const T& x, std::string_view bytes) {
  detail::put(x, load_bytes(bytes));
}

// What a safetensors file has, in the file's order. Nothing but its header is read.
struct StoredTensor {
  std::string name;
  std::string dtype;  // as the format says it: "F32", "U16"
  std::vector<int64_t> sizes;
  int64_t bytes = 0;
};
inline std::vector<StoredTensor> stored_tensors(const std::string& path) {
  const Object file = Object::create("SafetensorsFile", path);
  std::vector<StoredTensor> list;
  const auto strings_of = [&](const char* method, auto take) {
    tn_value given = file.invoke<tn_value>(method);
    const detail::ValueReleaser releaser{given};
    for (uint32_t i = 0; i < given.count; ++i) take(i, given.as.strings[i]);
  };
  strings_of("names", [&](uint32_t, const char* name) { list.push_back({name, {}, {}, 0}); });
  strings_of("dtypes", [&](uint32_t i, const char* dtype) { list[i].dtype = dtype; });
  for (StoredTensor& stored : list) {
    const std::vector<int64_t> sizes = file.invoke("sizes", stored.name).to_vector<int64_t>();
    stored.sizes.assign(sizes.begin() + 1, sizes.end());
    stored.bytes = sizes[0];
  }
  return list;
}

// The same without a copy: the tensors lie in the file's own pages, which are read when they are
// used. What is written to them stays in this process. The file must not become shorter while they
// live. Bools, and tensors that the file has not aligned, are copied.
inline NamedTensors load_mapped(const std::string& path) {
  return detail::all_of(Object::create("SafetensorsFile", path), "mapped");
}

// Reads the array of a .npy file of NumPy, packed by gzip or not.
inline Tensor load_npy(const std::string& path) {
  return Object::create("NpyFile", path).invoke("tensor");
}
// The arrays of a .npz archive, stored or compressed; and one of them.
inline NamedTensors load_npz(const std::string& path) {
  return detail::all_of(Object::create("NpzFile", path), "tensor");
}
inline Tensor load_npz(const std::string& path, TextRef name) {
  return Object::create("NpzFile", path).invoke("tensor", name);
}
// Writes a .npy file for numpy.load, whole or not at all. An Error for bfloat16, which NumPy has not.
inline void save_npy(const Tensor& tensor, const std::string& path) {
  Object::create("NpyWriter", path).invoke<void>("save", tensor);
}
// The same of a .npz archive, as numpy.savez writes it, not compressed.
inline void save_npz(const NamedTensors& tensors, const std::string& path) {
  detail::save_all("save_npz", Object::create("NpzWriter", path), tensors);
}

}  // namespace v0
}  // namespace tenon
