// Saving and loading named tensors in the safetensors format and those of NumPy, and reading IDX files,
// by the plugin `files`. Files of the Python world load as they are, and theirs load ours.
#pragma once

#include <concepts>
#include <string>
#include <vector>

#include "tenon/object.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {

namespace detail {

inline void save_all(const Object& writer, const NamedTensors& tensors) {
  std::vector<const char*> names;
  std::vector<Tensor> list;
  for (const auto& [name, tensor] : tensors) {
    names.push_back(name.c_str());
    list.push_back(tensor);
  }
  tn_value strings = make_value(TN_KIND_STRINGS, uint32_t(names.size()));
  strings.as.strings = names.data();
  writer.invoke<void>("save", strings, list);
}

}  // namespace detail

// Writes the file whole or not at all. Tensors of any device and layout; dtypes and values stay as
// they are.
inline void save(const NamedTensors& tensors, const std::string& path) {
  detail::save_all(Object::create("SafetensorsWriter", path), tensors);
}

// What a model has, or anything else with a state_dict: save(model, path), and load(model, path) of
// such a file. An Error lists what does not fit.
template <typename T>
requires requires(const T& x) {
  { x.state_dict() } -> std::convertible_to<NamedTensors>;
}
void save(const T& x, const std::string& path) { save(NamedTensors(x.state_dict()), path); }

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

template <typename T>
requires requires(T& x, const NamedTensors& state) { x.load_state_dict(state); }
void load(T& x, const std::string& path) { x.load_state_dict(load(path)); }
template <typename T>
requires requires(const T& x, const NamedTensors& state) { x.load_state_dict(state); }
void load(const T& x, const std::string& path) { x.load_state_dict(load(path)); }

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
  detail::save_all(Object::create("NpzWriter", path), tensors);
}

}  // namespace v0
}  // namespace tenon
