// DataLoader: batches of a dataset, made ahead by threads, in an order that the seed alone decides.
// Part of data.hpp. It reads no files and knows no format, which is up to the dataset.
//
//   struct Faces {
//     int64_t size() const { return int64_t(paths.size()); }
//     std::pair<Tensor, int64_t> get(int64_t i) const { return {decode(paths[i]), person[i]}; }
//     ...
//   };
//   data::DataLoader batches(Faces(...), {.batch_size = 64, .shuffle = true, .num_workers = 4});
//   for (auto [images, people] : batches) ...
// sample.hpp says what a dataset is.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tenon/data/collate.hpp"
#include "tenon/data/pipeline.hpp"
#include "tenon/data/sample.hpp"
#include "tenon/data/sampler.hpp"
#include "tenon/literal.hpp"
#include "tenon/object.hpp"
#include "tenon/random.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {
namespace data {

// In the order of PyTorch's DataLoader, whose collate_fn is the loader's third argument; what
// PyTorch does not have is at the end.
struct LoaderOptions {
  int64_t batch_size = 1;
  bool shuffle = false;
  SamplerPtr sampler = {};  // the order, in the place of `shuffle`
  // The batches of each pass, in the place of batch_size, shuffle, sampler and drop_last.
  BatchSamplerPtr batch_sampler = {};
  int64_t num_workers = 0;  // threads that make batches; 0: the caller does
  // Batches lie in memory of the host that copies to this device reach by themselves, so that
  // `.to(device, {.non_blocking = true})` is not waited for.
  std::optional<Device> pin_memory = {};
  bool drop_last = false;             // leave out a last batch that is not full
  int64_t prefetch_factor = 2;        // batches made ahead, for each worker
  bool persistent_workers = false;    // the threads stay from one pass to the next
  std::optional<uint64_t> seed = {};  // of the order; absent: the seed of tenon's random numbers
  std::optional<Device> device = {};  // batches are brought there, by the workers
};

namespace detail {

// An option of a loader, "DataLoader: batch_size".
inline void expect_option(const char* option, int64_t value, int64_t least, int64_t most) {
  if (value >= least && value <= most) return;
  const std::string range =
      most == INT64_MAX
          ? tenon::detail::joined({"at least ", std::to_string(least)})
          : tenon::detail::joined({std::to_string(least), " to ", std::to_string(most)});
  fail(tenon::detail::joined({option, " is ", std::to_string(value), ", expected ", range}));
}

// A number of the state of a loader.
inline int64_t state_value(const char* loader, const NamedTensors& state, const char* name) {
  for (const auto& [key, tensor] : state) {
    if (key == name) return tensor.template item<int64_t>();
  }
  fail(tenon::detail::joined({loader, ": the state has no '", name, "'"}), TN_NOT_FOUND);
}

// Of an iterator whose pass another one ended.
[[noreturn]] inline void refuse_ended_pass(const char* loader) {
  fail(tenon::detail::joined(
      {loader,
       ": a loop over this loader began another pass of it, which ended this one; a loop "
       "within a loop needs a loader of its own"}));
}

// Puts a loader in the place of another, all of whose workers end before what they read goes.
template <typename Loader>
void replace_loader(Loader* place, Loader&& by) noexcept {
  if (place == &by) return;
  std::destroy_at(place);
  std::construct_at(place, std::move(by));
}

inline void expect_loader_options(const LoaderOptions& o) {
  expect_option("DataLoader: batch_size", o.batch_size, 1, INT64_MAX);
  expect_option("DataLoader: num_workers", o.num_workers, 0, 1024);
  expect_option("DataLoader: prefetch_factor", o.prefetch_factor, 1, 1024);
  if (o.shuffle && o.sampler) {
    fail("DataLoader: shuffle and sampler are both given, and each is an order of its own");
  }
  if (o.batch_sampler && (o.batch_size != 1 || o.shuffle || o.sampler || o.drop_last)) {
    fail(
        "DataLoader: batch_sampler stands in the place of batch_size, shuffle, sampler and "
        "drop_last; give it alone");
  }
  if (o.device && o.pin_memory) {
    fail("DataLoader: device and pin_memory are both given; batches are on the device already");
  }
}

// The items of a pass.
struct Order {
  std::vector<int64_t> items;
  std::vector<int64_t> ends;  // of a batch sampler's batches, among them
};

// "batches of 32"
inline std::string batches_text(int64_t batch_size) {
  if (batch_size == 0) return "the batches of a batch sampler";
  return "batches of " + std::to_string(batch_size);
}

// A pass of a dataset: the order, and how a batch of it is made. What workers read does not change
// while a pass is under way.
template <typename D, typename C>
struct Pass {
  using Batch = decltype(batch_type(std::declval<const D&>(), std::declval<const C&>(),
                                    std::declval<Random&>()));
  const D dataset;
  const C collate;
  const LoaderOptions options;
  Order order;
  uint64_t seed = 0;
  int64_t epoch = 0;

  int64_t n_items() const {
    return options.sampler ? options.sampler->size(dataset.size()) : dataset.size();
  }
  // As a state has it; 0: each batch has a size of its own.
  int64_t batch_size() const { return options.batch_sampler ? 0 : options.batch_size; }
  int64_t n_batches(const Order& of_pass) const {
    if (options.batch_sampler) return int64_t(of_pass.ends.size());
    const int64_t n = n_items(), b = options.batch_size;
    return n / b + (!options.drop_last && n % b != 0);
  }
  // Of the pass that has this seed and number.
  Order drawn(uint64_t of_seed, int64_t number) const {
    const Random random = Random::of_pass(of_seed, number);
    Generator generator = generator_of(random);
    const GeneratorGuard guard(generator);
    Order result = options.batch_sampler ? drawn_batches(random) : Order{drawn_items(random), {}};
    const int64_t items = dataset.size();
    for (int64_t index : result.items) {
      if (index >= 0 && index < items) continue;
      fail(tenon::detail::joined({"DataLoader: the sampler gives index ", std::to_string(index),
                                  " of a dataset of ", std::to_string(items), " items"}));
    }
    return result;
  }
  Batch make(int64_t number, const Flag& cancelled) const {
    const auto [first, end] = places_of(number);
    const std::vector<int64_t> indices(order.items.begin() + first, order.items.begin() + end);
    int64_t at = -1;  // the sample that is being made
    std::exception_ptr thrown;
    try {
      Batch batch = gathered(indices, first, cancelled, at);
      at = -1;
      expect_leaves(batch, options.num_workers);
      if (options.device) {
        each_tensor(batch, [&](Tensor& t) { t = t.to(*options.device); });
      }
      if (options.pin_memory) {
        each_tensor(batch, [&](Tensor& t) { t = t.pin_memory(*options.pin_memory); });
      }
      return batch;
    } catch (const Misfit& misfit) {
      at = indices[misfit.place];
      thrown = std::current_exception();
    } catch (...) {
      thrown = std::current_exception();
    }
    sample_failed(number, at, indices, std::move(thrown));
  }

 private:
  std::vector<int64_t> drawn_items(Random random) const {
    const SamplerPtr sampler = options.sampler   ? options.sampler
                               : options.shuffle ? RandomSampler()
                                                 : SequentialSampler();
    std::vector<int64_t> items = sampler->order(dataset.size(), random);
    if (int64_t(items.size()) != n_items()) {
      fail(tenon::detail::joined({"DataLoader: the sampler gives ", std::to_string(items.size()),
                                  " indices, its size is ", std::to_string(n_items())}));
    }
    return items;
  }
  Order drawn_batches(Random random) const {
    Order result;
    for (const auto& batch : options.batch_sampler->batches(dataset.size(), random)) {
      if (batch.empty()) {
        fail(tenon::detail::joined({"DataLoader: batch ", std::to_string(result.ends.size()),
                                    " of the batch sampler has no items"}));
      }
      result.items.insert(result.items.end(), batch.begin(), batch.end());
      result.ends.push_back(int64_t(result.items.size()));
    }
    return result;
  }
  // Where in the order a batch begins and ends.
  std::pair<int64_t, int64_t> places_of(int64_t batch) const {
    if (options.batch_sampler) {
      return {batch == 0 ? 0 : order.ends[size_t(batch - 1)], order.ends[size_t(batch)]};
    }
    const int64_t first = batch * options.batch_size;
    return {first, std::min(first + options.batch_size, int64_t(order.items.size()))};
  }
  Batch gathered(const std::vector<int64_t>& indices, int64_t first, const Flag& cancelled,
                 int64_t& at) const {
    Generator of_batch = generator_of(Random::of_batch(seed, epoch, first));
    const GeneratorGuard guard_of_batch(of_batch);
    if constexpr (kGetsBatches<D>) {
      return dataset.get_batch(indices);
    } else {
      std::vector<decltype(sample_of(dataset, 0, std::declval<Random&>()))> samples;
      samples.reserve(indices.size());
      for (size_t i = 0; i < indices.size(); ++i) {
        if (cancelled.is_set()) fail("the pass has ended");
        Random random = Random::of_sample(seed, epoch, first + int64_t(i));
        Generator generator = generator_of(random);
        const GeneratorGuard guard(generator);
        at = indices[i];
        samples.push_back(sample_of(dataset, indices[i], random));
      }
      at = -1;
      return collate(samples);
    }
  }
};

}  // namespace detail

// Batches of dataset D. Each pass (range-for) is an epoch with an order of its own, which seed and
// number of the epoch decide; the number of workers changes nothing. One pass at a time: to begin
// one ends the pass before it, whose iterator is then an Error to go on with, so a loop within a
// loop needs a loader of its own. A loader may be dropped at any time; it waits for the samples that
// are being made. Used by one thread; moved between passes.
//
// `collate(const std::vector<Sample>&)` makes the batch; workers call it at the same time.
template <typename D, typename C = DefaultCollate>
class DataLoader {
  using Pass = detail::Pass<D, C>;

 public:
  using Batch = typename Pass::Batch;

  DataLoader(D dataset, const LoaderOptions& options = {}, C collate = {})
      : DataLoader(options, std::move(dataset), std::move(collate)) {}
  DataLoader(D dataset, Int batch_size, Bool shuffle = false)
      : DataLoader(LoaderOptions{.batch_size = batch_size, .shuffle = shuffle}, std::move(dataset),
                   C()) {}
  DataLoader(DataLoader&&) noexcept = default;
  DataLoader& operator=(DataLoader&& other) noexcept {
    detail::replace_loader(this, std::move(other));
    return *this;
  }
  ~DataLoader() = default;

  // Batches in a pass; with a batch sampler in the last that was begun, before the first in that.
  int64_t size() const;
  const D& dataset() const { return pass().dataset; }
  // Where it is: the epoch that is under way or was last, and how many batches of it were given.
  int64_t epoch() const { return pass().epoch; }
  int64_t batch() const { return given_; }

  // The place, for a checkpoint: a loader of the same data and batch size that loads it goes on
  // with the batch behind the last that was given, in the middle of an epoch too, and its samples
  // draw the same random numbers. Where the epoch had ended the next one begins.
  NamedTensors state_dict() const;
  void load_state_dict(const NamedTensors& state);

  class iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = Batch;
    using difference_type = std::ptrdiff_t;
    using pointer = value_type*;
    using reference = value_type&;

    iterator() = default;
    iterator(DataLoader* loader, int64_t batch)
        : loader_(loader), batch_(batch), pass_(loader->n_begun_) {}
    // The loader's, until the next one is asked for.
    value_type& operator*() const {
      expect_own_pass();
      if (!loader_ || !loader_->current_) fail("DataLoader: no batch is here: the pass has ended");
      return *loader_->current_;
    }
    value_type* operator->() const { return &**this; }
    iterator& operator++() {
      expect_own_pass();
      if (!loader_ || batch_ == loader_->size())
        fail("DataLoader: ++ of an iterator behind the last batch: the pass has ended");
      batch_ = loader_->advance(batch_);
      return *this;
    }
    void operator++(int) { ++*this; }
    bool operator==(const iterator& other) const { return batch_ == other.batch_; }

   private:
    void expect_own_pass() const {
      if (loader_ && pass_ != loader_->n_begun_) detail::refuse_ended_pass("DataLoader");
    }
    DataLoader* loader_ = nullptr;
    int64_t batch_ = 0;
    int64_t pass_ = 0;
  };
  iterator begin();
  iterator end() { return {this, size()}; }

 private:
  DataLoader(const LoaderOptions& options, D dataset, C collate);

  Pass& pass() const {
    if (!pass_) fail("DataLoader: the loader was moved from");
    return *pass_;
  }

  // Of the next pass.
  uint64_t next_seed() const {
    return loaded_seed_          ? *loaded_seed_
           : pass().options.seed ? *pass().options.seed
                                 : random_state().seed;
  }
  // The batch behind number `batch` becomes the current one; gives its number, or size() where
  // there is none.
  int64_t advance(int64_t batch);

  std::unique_ptr<Pass> pass_;
  std::unique_ptr<detail::Pipeline<Pass>> pipeline_;  // behind what its workers read
  std::optional<Batch> current_;
  std::optional<uint64_t> loaded_seed_;
  int64_t given_ = 0;
  int64_t n_begun_ = 0;  // passes
  bool goes_on_ = true;  // the next pass is the epoch of `pass_`, from `given_` on
  bool under_way_ = false;
};

template <typename D, typename C>
DataLoader<D, C>::DataLoader(const LoaderOptions& options, D dataset, C collate) {
  detail::expect_loader_options(options);
  if (const int64_t n = int64_t(dataset.size()); n < 0) {
    fail(tenon::detail::joined(
        {"DataLoader: the dataset's size() is ", std::to_string(n), ", expected 0 or more"}));
  }
  pass_.reset(new Pass{std::move(dataset), std::move(collate), options, {}, 0, 0});
  pipeline_ = std::make_unique<detail::Pipeline<Pass>>(
      pass_.get(), options.num_workers,
      std::max<int64_t>(1, options.num_workers * options.prefetch_factor),
      options.persistent_workers);
}

template <typename D, typename C>
int64_t DataLoader<D, C>::size() const {
  detail::Order& order = pass().order;
  const bool needs_order = pass_->options.batch_sampler && n_begun_ == 0 && order.items.empty();
  if (needs_order) order = pass_->drawn(next_seed(), pass_->epoch);
  return pass_->n_batches(order);
}

template <typename D, typename C>
typename DataLoader<D, C>::iterator DataLoader<D, C>::begin() {
  pass();
  pipeline_->cancel();
  under_way_ = false;
  ++n_begun_;
  current_.reset();
  const uint64_t seed = next_seed();
  const int64_t epoch = goes_on_ ? pass_->epoch : pass_->epoch + 1;
  pass_->order = pass_->drawn(seed, epoch);  // where it fails, the next pass is the same one
  if (!std::exchange(goes_on_, false)) given_ = 0;
  pass_->seed = seed;
  pass_->epoch = epoch;
  if (given_ >= size()) return end();
  pipeline_->start(given_, size());
  under_way_ = true;
  return {this, advance(given_ - 1)};
}

template <typename D, typename C>
int64_t DataLoader<D, C>::advance(int64_t batch) {
  current_.reset();
  if (!under_way_) return size();  // it failed, or another pass has begun and ended
  under_way_ = false;              // unless the next batch can be made
  if (batch + 1 >= size()) {
    pipeline_->cancel();
    return size();
  }
  current_.emplace(pipeline_->next());
  under_way_ = true;
  given_ = batch + 2;
  return batch + 1;
}

template <typename D, typename C>
NamedTensors DataLoader<D, C>::state_dict() const {
  pass();
  const uint64_t seed = goes_on_ ? next_seed() : pass_->seed;
  return {{"epoch", tensor<int64_t>(pass_->epoch)},
          {"batch", tensor<int64_t>(given_)},
          {"seed", tensor<int64_t>(int64_t(seed))},
          {"items", tensor<int64_t>(pass_->n_items())},
          {"batch_size", tensor<int64_t>(pass_->batch_size())}};
}

template <typename D, typename C>
void DataLoader<D, C>::load_state_dict(const NamedTensors& state) {
  const auto value = [&](const char* name) {
    return detail::state_value("DataLoader", state, name);
  };
  const int64_t epoch = value("epoch"), given = value("batch"), seed = value("seed"),
                items = value("items"), batch_size = value("batch_size");
  if (items != pass().n_items() || batch_size != pass_->batch_size()) {
    fail(tenon::detail::joined({"DataLoader: the state is of ", std::to_string(items), " items in ",
                                detail::batches_text(batch_size), ", this loader has ",
                                std::to_string(pass_->n_items()), " in ",
                                detail::batches_text(pass_->batch_size())}));
  }
  detail::Order order;
  if (batch_size == 0) order = pass_->drawn(uint64_t(seed), epoch);
  const int64_t n_batches = pass_->n_batches(order);
  if (epoch < 0 || epoch == INT64_MAX || given < 0 || given > n_batches) {
    fail(tenon::detail::joined({"DataLoader: the state is at batch ", std::to_string(given),
                                " of epoch ", std::to_string(epoch), ", an epoch has ",
                                std::to_string(n_batches)}));
  }
  pipeline_->cancel();
  pass_->order = std::move(order);
  under_way_ = false;
  current_.reset();
  const bool ended = given == n_batches;
  pass_->epoch = ended ? epoch + 1 : epoch;
  given_ = ended ? 0 : given;
  loaded_seed_ = uint64_t(seed);
  goes_on_ = true;
}

}  // namespace data
}  // namespace v0
}  // namespace tenon
