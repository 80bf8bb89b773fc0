// Data that comes one item after the other and whose number nobody knows: lines of files too large for
// memory, records of a socket, an endless simulation (PyTorch's IterableDataset). For applications; not
// part of tenon.hpp.
//
//   auto lines = data::stream([](int64_t /*epoch*/) {  // called as each pass begins
//     return [file = std::ifstream("corpus.txt")]() mutable -> std::optional<std::string> {
//       std::string line;
//       if (!std::getline(file, line)) return std::nullopt;  // the end of the pass
//       return line;
//     };
//   });
//   data::StreamLoader batches(lines, {.batch_size = 32, .shuffle_buffer = 10'000}, TokenCollate(tokenizer));
//   for (auto [ids, mask] : batches) ...
//
// A stream has `auto open(int64_t epoch) const`, which gives a function () -> std::optional<Item>, and
// where items are to become samples, one of these, which workers call at the same time:
//   get(Item) const                    a sample
//   get(Item, data::Random&) const     the same, with the sample's random numbers
#pragma once

#include <cstdint>
#include <deque>
#include <exception>
#include <iterator>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "tenon/data/loader.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {
namespace data {

// In the order of LoaderOptions, where shuffle_buffer stands in the place of shuffle.
struct StreamOptions {
  int64_t batch_size = 1;
  // Items that are held; each that comes takes the place of one that is drawn from them. 0: the items
  // stay in the order of the stream.
  int64_t shuffle_buffer = 0;
  int64_t num_workers = 0;                // threads that make batches; 0: the caller does
  std::optional<Device> pin_memory = {};  // as of a DataLoader
  bool drop_last = false;                 // leave out a last batch that is not full
  int64_t prefetch_factor = 2;            // batches made ahead, for each worker
  // Of what is drawn; absent: the seed of tenon's random numbers.
  std::optional<uint64_t> seed = {};
  std::optional<Device> device = {};  // batches are brought there, by the workers
  int64_t rank = 0, ranks = 1;        // every ranks-th item from the rank-th on is this one's
};

// A stream of functions: open(epoch) gives what gives the items, and get makes a sample of each.
template <typename Open, typename Get>
struct FunctionStream {
  Open open_items;
  Get make_sample;

  auto open(int64_t epoch) const { return open_items(epoch); }
  template <typename Item>
  requires std::is_invocable_v<const Get&, Item>
  auto get(Item item) const { return make_sample(std::move(item)); }
  template <typename Item>
  requires std::is_invocable_v<const Get&, Item, Random&>
  auto get(Item item, Random& random) const { return make_sample(std::move(item), random); }
};
template <typename Open>
struct FunctionStream<Open, void> {
  Open open_items;

  auto open(int64_t epoch) const { return open_items(epoch); }
};
template <typename Open>
FunctionStream<Open, void> stream(Open open) {
  return {std::move(open)};
}
template <typename Open, typename Get>
FunctionStream<Open, Get> stream(Open open, Get get) {
  return {std::move(open), std::move(get)};
}

namespace detail {

template <typename D>
concept IsStream = requires(const D& stream) {
  requires !std::is_void_v<decltype(*stream.open(int64_t{})())>;
};

template <typename D>
using ReaderOf = decltype(std::declval<const D&>().open(int64_t{}));
template <typename D>
using ItemOf = std::remove_cvref_t<decltype(*std::declval<ReaderOf<D>&>()())>;

// What a stream makes of an item.
template <typename D, typename Item>
auto sample_of_item(const D& stream, Item item, Random& random) {
  if constexpr (requires { stream.get(std::move(item), random); }) {
    return stream.get(std::move(item), random);
  } else if constexpr (requires { stream.get(std::move(item)); }) {
    return stream.get(std::move(item));
  } else {
    return item;
  }
}

inline void expect_stream_options(const StreamOptions& o) {
  expect_option("StreamLoader: batch_size", o.batch_size, 1, INT64_MAX);
  expect_option("StreamLoader: shuffle_buffer", o.shuffle_buffer, 0, INT64_MAX);
  expect_option("StreamLoader: num_workers", o.num_workers, 0, 1024);
  expect_option("StreamLoader: prefetch_factor", o.prefetch_factor, 1, 1024);
  expect_option("StreamLoader: ranks", o.ranks, 1, INT64_MAX);
  expect_option("StreamLoader: rank", o.rank, 0, o.ranks - 1);
  if (o.device && o.pin_memory) {
    fail("StreamLoader: device and pin_memory are both given; batches are on the device already");
  }
}

// A pass of a stream: items are read by one thread at a time, in the order of the batches; what is made
// of them is made by several.
template <typename D, typename C>
class StreamPass {
  using Reader = ReaderOf<D>;
  using Item = ItemOf<D>;

  using Sample = decltype(sample_of_item(std::declval<const D&>(), std::declval<Item>(),
                                         std::declval<Random&>()));

 public:
  using Given = decltype(std::declval<const C&>()(std::declval<const std::vector<Sample>&>()));
  using Batch = std::optional<Given>;  // nothing: the stream has ended before it

  StreamPass(D stream, C collate, StreamOptions options)
      : stream_(std::move(stream)), collate_(std::move(collate)), options_(options) {}

  // No batch is being made. The batches before `first` are read and left out.
  void begin(uint64_t seed, int64_t epoch, int64_t first) {
    const Random random = Random::of_pass(seed, epoch);
    Generator generator = generator_of(random);
    const GeneratorGuard guard(generator);
    Reader read = stream_.open(epoch);
    source_ = std::make_unique<Source>(Source{std::move(read), random, generator, first});
    seed_ = seed;
    epoch_ = epoch;
    turn_ = first;
    broken_ = nullptr;
  }
  void end() { source_.reset(); }
  // In a child of fork: a worker of the parent may have been within any of it.
  void forget_parent() const {
    static_cast<void>(source_.release());
    mutex_.begin_anew();
    turned_.begin_anew();
    new (&broken_) std::exception_ptr();
  }

  // Number k begins behind k - 1. Of any thread.
  Batch make(int64_t number, const Flag& cancelled) const {
    Items read = read_in_turn(number, cancelled);
    if (read.list.empty()) return std::nullopt;
    int64_t at = -1;  // the item that is being made; -1: none
    Generator of_batch = generator_of(Random::of_batch(seed_, epoch_, read.first));
    const GeneratorGuard guard_of_batch(of_batch);
    try {
      std::vector<Sample> samples;
      samples.reserve(read.list.size());
      for (Item& item : read.list) {
        if (cancelled.is_set()) fail("the pass has ended");
        at = read.first + int64_t(samples.size());
        Random random = Random::of_sample(seed_, epoch_, at);
        Generator generator = generator_of(random);
        const GeneratorGuard guard(generator);
        samples.push_back(sample_of_item(stream_, std::move(item), random));
      }
      at = -1;
      Batch batch = collate_(samples);
      expect_leaves(*batch, options_.num_workers);
      if (options_.device) {
        each_tensor(*batch, [&](Tensor& t) { t = t.to(*options_.device); });
      }
      if (options_.pin_memory) {
        each_tensor(*batch, [&](Tensor& t) { t = t.pin_memory(*options_.pin_memory); });
      }
      return batch;
    } catch (const Misfit& misfit) {
      throw failure(number, read.first + int64_t(misfit.place), std::current_exception());
    } catch (...) {
      throw failure(number, at, std::current_exception());
    }
  }

 private:
  struct Source {
    Reader read;
    Random random;
    Generator generator;  // of random ops in the reader
    int64_t to_skip = 0;  // batches
    int64_t n_read = 0;   // items, of all ranks
    int64_t n_drawn = 0;  // items that batches had
    bool has_ended = false;
    std::deque<Item> held = {};  // of the shuffle
  };
  struct Items {
    int64_t first = 0;  // behind so many
    std::deque<Item> list = {};
  };

  static SampleError failure(int64_t batch, int64_t item, std::exception_ptr thrown) {
    const auto [what, code] = words_of(thrown);
    std::string where = tenon::detail::joined({"batch ", std::to_string(batch)});
    if (item >= 0) {
      where = tenon::detail::joined({"item ", std::to_string(item), " (", where, ")"});
    }
    return SampleError(batch, item, tenon::detail::joined({"StreamLoader: ", where, ": ", what}),
                       code, std::move(thrown));
  }

  // The items of a batch; none where the stream has ended. What fails here fails for all that wait,
  // who would else wait for ever: also a list for which there is no memory.
  Items read_in_turn(int64_t number, const Flag& cancelled) const {
    {
      Lock lock(mutex_);
      turned_.wait(mutex_, [&] { return turn_ == number || broken_; });
      if (broken_) std::rethrow_exception(broken_);
    }
    try {
      Items items = items_of(number, cancelled);
      end_turn(nullptr);
      if (options_.drop_last && int64_t(items.list.size()) < options_.batch_size)
        items.list.clear();
      return items;
    } catch (...) {
      end_turn(std::current_exception());
      throw;
    }
  }
  void end_turn(std::exception_ptr failed) const {
    Lock lock(mutex_);
    failed ? void(broken_ = std::move(failed)) : void(++turn_);
    turned_.notify_all();
  }
  // Of who has the turn.
  Items items_of(int64_t number, const Flag& cancelled) const {
    Source& s = *source_;
    int64_t at = -1;  // the item that is being read; -1: none
    try {
      Items items;
      const GeneratorGuard guard(s.generator);
      for (; s.to_skip > 0; --s.to_skip) {
        if (read_batch(cancelled, at, nullptr) > 0) continue;
        at = -1;
        fail(tenon::detail::joined({"the stream has ended behind ", std::to_string(s.n_drawn),
                                    " items, before the place of the state that was loaded"}));
      }
      items.first = s.n_drawn;
      read_batch(cancelled, at, &items.list);
      return items;
    } catch (...) {
      // Items that are left out are of batches before this one.
      const int64_t batch = at < 0 || s.to_skip == 0 ? number : at / options_.batch_size;
      throw failure(batch, at, std::current_exception());
    }
  }
  int64_t read_batch(const Flag& cancelled, int64_t& at, std::deque<Item>* items) const {
    int64_t n = 0;
    for (; n < options_.batch_size; ++n) {
      if (cancelled.is_set()) fail("the pass has ended");
      at = source_->n_drawn;
      std::optional<Item> item = drawn();
      if (!item) break;
      ++source_->n_drawn;
      if (items) items->push_back(*std::move(item));
    }
    return n;
  }
  // The next item in the order that is given.
  std::optional<Item> drawn() const {
    Source& s = *source_;
    if (options_.shuffle_buffer < 2) return own_item();
    while (int64_t(s.held.size()) < options_.shuffle_buffer) {
      std::optional<Item> item = own_item();
      if (!item) break;
      s.held.push_back(*std::move(item));
    }
    if (s.held.empty()) return std::nullopt;
    std::swap(s.held[size_t(s.random.below(int64_t(s.held.size())))], s.held.back());
    Item item = std::move(s.held.back());
    s.held.pop_back();
    return item;
  }
  // The next of the stream that is this rank's. What has ended is not asked again.
  std::optional<Item> own_item() const {
    Source& s = *source_;
    while (!s.has_ended) {
      std::optional<Item> item = s.read();
      s.has_ended = !item;
      if (item && s.n_read++ % options_.ranks == options_.rank) return item;
    }
    return std::nullopt;
  }

  const D stream_;
  const C collate_;
  const StreamOptions options_;
  uint64_t seed_ = 0;
  int64_t epoch_ = 0;
  mutable Mutex mutex_;
  mutable Condition turned_;
  // Both need the mutex.
  mutable int64_t turn_ = 0;                // the batch that may read
  mutable std::exception_ptr broken_;       // what ended the reading
  mutable std::unique_ptr<Source> source_;  // of who has the turn
};

}  // namespace detail

// Batches of stream D. Each pass (range-for) is an epoch, for which the stream is opened anew; it ends
// where the stream does. Order, samples and their random numbers follow from seed and epoch; the number
// of workers changes nothing. Items are read by one thread at a time, in the order of the batches;
// samples and batches are made by all workers. One pass at a time; used by one thread. Who ends a pass
// (break, the destructor, load_state_dict) waits for an item that is being read: a reader of what may
// not come needs a time limit of its own. Errors count items as they are drawn, of this rank.
//
// `collate(const std::vector<Sample>&)` makes the batch; workers call it at the same time.
template <typename D, typename C = DefaultCollate>
class StreamLoader {
  using Pass = detail::StreamPass<D, C>;

 public:
  using Batch = typename Pass::Given;

  explicit StreamLoader(D stream, const StreamOptions& options = {}, C collate = {})
      : options_(options) {
    static_assert(detail::IsStream<D>,
                  "a stream has open(int64_t epoch) const, which gives a function () -> "
                  "std::optional<Item>");
    detail::expect_stream_options(options);
    pass_ = std::make_unique<Pass>(std::move(stream), std::move(collate), options);
    pipeline_ = std::make_unique<detail::Pipeline<Pass>>(
        pass_.get(), options.num_workers,
        std::max<int64_t>(1, options.num_workers * options.prefetch_factor), false);
  }
  StreamLoader(StreamLoader&&) noexcept = default;
  StreamLoader& operator=(StreamLoader&& other) noexcept {
    detail::replace_loader(this, std::move(other));
    return *this;
  }
  ~StreamLoader() = default;

  // Where it is: the epoch that is under way or was last, and how many batches of it were given.
  int64_t epoch() const { return epoch_; }
  int64_t batch() const { return given_; }

  // The place, for a checkpoint: a loader of the same stream and options that loads it goes on with the
  // batch behind the last that was given. What is before it is read again and left out.
  NamedTensors state_dict() const {
    return {{"epoch", tensor<int64_t>(has_ended_ ? epoch_ + 1 : epoch_)},
            {"batch", tensor<int64_t>(has_ended_ ? 0 : given_)},
            {"seed", tensor<int64_t>(int64_t(goes_on_ ? seed_of_next() : seed_))},
            {"batch_size", tensor<int64_t>(options_.batch_size)}};
  }
  void load_state_dict(const NamedTensors& state) {
    const auto value = [&](const char* name) {
      return detail::state_value("StreamLoader", state, name);
    };
    const int64_t epoch = value("epoch"), given = value("batch"), seed = value("seed"),
                  batch_size = value("batch_size");
    if (batch_size != options_.batch_size) {
      fail(tenon::detail::joined({"StreamLoader: the state is of batches of ",
                                  std::to_string(batch_size), ", this loader has batches of ",
                                  std::to_string(options_.batch_size)}));
    }
    if (epoch < 0 || epoch == INT64_MAX || given < 0 || given > INT64_MAX / batch_size) {
      fail(tenon::detail::joined({"StreamLoader: the state is at batch ", std::to_string(given),
                                  " of epoch ", std::to_string(epoch)}));
    }
    if (!pass_) fail("StreamLoader: the loader was moved from");
    end_pass();
    epoch_ = epoch;
    given_ = given;
    loaded_seed_ = uint64_t(seed);
    goes_on_ = true;
    has_ended_ = false;
  }

  class iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = Batch;
    using difference_type = std::ptrdiff_t;
    using pointer = value_type*;
    using reference = value_type&;

    iterator() = default;
    explicit iterator(StreamLoader* loader) : loader_(loader), pass_(loader->n_begun_) {}
    // The loader's, until the next one is asked for.
    value_type& operator*() const {
      expect_own_pass();
      if (!loader_ || !loader_->current_)
        fail("StreamLoader: no batch is here: the pass has ended");
      return *loader_->current_;
    }
    value_type* operator->() const { return &**this; }
    iterator& operator++() {
      expect_own_pass();
      if (!loader_ || loader_->has_ended_)
        fail("StreamLoader: ++ of an iterator behind the last batch: the pass has ended");
      loader_->advance();
      return *this;
    }
    void operator++(int) { ++*this; }
    bool operator==(std::default_sentinel_t) const { return !loader_ || !loader_->current_; }

   private:
    void expect_own_pass() const {
      if (loader_ && pass_ != loader_->n_begun_) detail::refuse_ended_pass("StreamLoader");
    }
    StreamLoader* loader_ = nullptr;
    int64_t pass_ = 0;
  };
  iterator begin() {
    if (!pass_) fail("StreamLoader: the loader was moved from");
    end_pass();
    ++n_begun_;
    const uint64_t seed = seed_of_next();
    const int64_t epoch = goes_on_ ? epoch_ : epoch_ + 1, given = goes_on_ ? given_ : 0;
    pass_->begin(seed, epoch, given);  // where it fails, the next one is the same pass
    goes_on_ = has_ended_ = false;
    seed_ = seed;
    epoch_ = epoch;
    given_ = given;
    under_way_ = true;
    pipeline_->start(given, INT64_MAX);
    advance();
    return iterator(this);
  }
  std::default_sentinel_t end() const { return {}; }

 private:
  uint64_t seed_of_next() const {
    return loaded_seed_ ? *loaded_seed_ : options_.seed ? *options_.seed : random_state().seed;
  }
  void end_pass() {
    current_.reset();
    pipeline_->look_for_fork();
    if (!std::exchange(under_way_, false)) return;
    pipeline_->cancel();
    pass_->end();
  }
  void advance() {
    if (!pass_) fail("StreamLoader: the loader was moved from");
    current_.reset();
    if (!under_way_) return;  // it failed
    std::optional<Batch> next;
    try {
      next = pipeline_->next();
    } catch (...) {
      end_pass();
      throw;
    }
    if (next) {
      current_ = std::move(next);
      ++given_;
    } else {
      end_pass();
      has_ended_ = true;
    }
  }

  StreamOptions options_;
  std::unique_ptr<Pass> pass_;
  std::unique_ptr<detail::Pipeline<Pass>> pipeline_;  // behind what its workers read
  std::optional<Batch> current_;
  std::optional<uint64_t> loaded_seed_;
  uint64_t seed_ = 0;
  int64_t epoch_ = 0, given_ = 0;
  int64_t n_begun_ = 0;  // passes
  bool goes_on_ = true;  // the next pass is epoch_, from given_ on
  bool under_way_ = false;
  bool has_ended_ = false;  // the last pass, by the end of the stream
};

}  // namespace data
}  // namespace v0
}  // namespace tenon
