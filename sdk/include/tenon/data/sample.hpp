// Samples of a dataset: what a dataset is, how a sample or a batch of it is had, and what is thrown where
// one cannot be made. Part of data.hpp; used by loader.hpp, stream.hpp and datasets.hpp.
//
// A dataset has `int64_t size() const` and one of these, which workers call at the same time:
//   get(int64_t index) const                           a sample
//   get(int64_t index, data::Random& random) const     the same, with the sample's random numbers
//   get_batch(const std::vector<int64_t>&) const       a whole batch, where that is cheaper
#pragma once

#include <cstdint>
#include <exception>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "tenon/data/collate.hpp"
#include "tenon/data/random.hpp"
#include "tenon/lists.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {
namespace data {

// What a loader throws when a sample or a batch cannot be made.
class SampleError : public Error {
 public:
  SampleError(int64_t in_batch, int64_t of_sample, const std::string& message, tn_code code,
              std::exception_ptr thrown)
      : Error(message, code), batch(in_batch), sample(of_sample), cause(std::move(thrown)) {}

  int64_t batch;   // its number in the pass, from 0
  int64_t sample;  // its index in the dataset; -1: the batch as a whole
  std::exception_ptr cause;
};

namespace detail {

// What `thrown` says.
inline std::pair<std::string, tn_code> words_of(const std::exception_ptr& thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const Error& error) {
    return {error.what(), error.code()};
  } catch (const std::bad_alloc&) {
    return {"host memory is exhausted", TN_OUT_OF_MEMORY};
  } catch (const std::exception& error) {
    return {error.what(), TN_EXCEPTION};
  } catch (...) {
    return {"an exception that is no std::exception", TN_EXCEPTION};
  }
}

[[noreturn]] inline void sample_failed(int64_t batch, int64_t sample,
                                       const std::vector<int64_t>& indices,
                                       std::exception_ptr thrown) {
  const auto [what, code] = words_of(thrown);
  std::string where;
  if (sample >= 0) {
    where = tenon::detail::joined(
        {"sample ", std::to_string(sample), " (batch ", std::to_string(batch), ")"});
  } else {
    where = tenon::detail::joined({"batch ", std::to_string(batch), " (sample "});
    where += std::to_string(indices.empty() ? -1 : indices[0]);
    if (indices.size() > 1) {
      where += tenon::detail::joined({" and ", std::to_string(indices.size() - 1), " more"});
    }
    where += ")";
  }
  throw SampleError(batch, sample, tenon::detail::joined({"DataLoader: ", where, ": ", what}), code,
                    std::move(thrown));
}

inline void expect_index(const char* what, int64_t index, int64_t size) {
  if (index >= 0 && index < size) return;
  fail(tenon::detail::joined(
      {what, ": index ", std::to_string(index), " of ", std::to_string(size), " items"}));
}

// The only item of a batch, without the dimension of items.
inline Tensor single_of(const Tensor& batch) {
  const auto sizes = batch.sizes();
  if (sizes.size() == 0 || sizes[0] != 1) {
    fail(tenon::detail::joined({"get_batch of one index gives a tensor of sizes ",
                                tenon::detail::sizes_text(sizes),
                                ", expected 1 as the first of them"}));
  }
  if (has_history(batch)) return select(batch, 0, 0);
  Tensor item = Tensor::empty(Ints(sizes.data() + 1, sizes.size() - 1), batch.dtype());
  void* to = nullptr;
  check(tenon::detail::api.tensor->mutable_data(item.get(), &to));
  check(tenon::detail::api.tensor->read(batch.get(), to,
                                        uint64_t(item.numel() * item.dtype().itemsize())));
  return item;
}

// A sample of a dataset, by whichever `get` it has, or as a batch of one.
template <typename D>
auto sample_of(const D& dataset, int64_t index, Random& random) {
  if constexpr (requires { dataset.get(index, random); }) {
    return dataset.get(index, random);
  } else if constexpr (requires { dataset.get(index); }) {
    return dataset.get(index);
  } else {
    auto batch = dataset.get_batch(std::vector<int64_t>{index});
    each_tensor(batch, [](Tensor& t) { t = single_of(t); });
    return batch;
  }
}

// The same outside of a pass: what it draws follows from the seed of tenon's random numbers.
template <typename D>
auto item_of(const D& dataset, int64_t index) {
  Random random = Random::of_sample(random_state().seed, 0, index);
  Generator generator = generator_of(random);
  const GeneratorGuard guard(generator);
  return sample_of(dataset, index, random);
}

template <typename D>
inline constexpr bool kGetsBatches = requires(const D& dataset,
                                              const std::vector<int64_t>& indices) {
  dataset.get_batch(indices);
};

template <typename D>
concept IsDataset = requires(const D& dataset, Random& random) {
  dataset.size();
  requires kGetsBatches<D> || requires { dataset.get(int64_t{}); } || requires {
    dataset.get(int64_t{}, random);
  };
};

template <typename D, typename C>
auto batch_type(const D& dataset, const C& collate, Random& random) {
  static_assert(IsDataset<D>,
                "a dataset has size() const, and one of get(int64_t) const, get(int64_t, Random&) "
                "const and get_batch(const std::vector<int64_t>&) const: workers call it at the "
                "same time");
  if constexpr (kGetsBatches<D>) {
    return dataset.get_batch(std::vector<int64_t>());
  } else {
    return collate(std::vector<decltype(sample_of(dataset, 0, random))>());
  }
}

}  // namespace detail
}  // namespace data
}  // namespace v0
}  // namespace tenon
