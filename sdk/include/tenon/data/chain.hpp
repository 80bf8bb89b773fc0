// Streams one after the other (PyTorch's ChainDataset). Not part of tenon.hpp.
//
//   data::StreamLoader batches(data::ChainDataset(books, letters), {.batch_size = 32});
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

#include "tenon/data/stream.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {
namespace data {

// The items of one stream in each pass, then those of the next, which is opened when its turn comes.
// All have one type of item, and give one type of sample.
template <typename... S>
class ChainDataset {
  static_assert(sizeof...(S) > 0);
  using Streams = std::tuple<S...>;
  using Item = detail::ItemOf<std::tuple_element_t<0, Streams>>;
  static_assert((std::is_same_v<Item, detail::ItemOf<S>> && ...),
                "streams of a ChainDataset have items of one type");

 public:
  // An item, and which stream it is of.
  struct Chained {
    size_t stream;
    Item item;
  };
  explicit ChainDataset(S... streams)
      : streams_(std::make_shared<const Streams>(std::move(streams)...)) {}

  auto open(int64_t epoch) const {
    return [streams = streams_, readers = std::tuple<std::optional<detail::ReaderOf<S>>...>(),
            turn = size_t(0), epoch]() mutable {
      std::optional<Chained> next;
      const auto read = [&]<size_t I>(std::integral_constant<size_t, I>) {
        if (turn != I) return false;
        auto& reader = std::get<I>(readers);
        if (!reader) reader.emplace(std::get<I>(*streams).open(epoch));
        if (auto item = (*reader)()) {
          next.emplace(Chained{I, std::move(*item)});
          return true;
        }
        reader.reset();
        ++turn;
        return false;
      };
      [&]<size_t... I>(std::index_sequence<I...>) {
        static_cast<void>((read(std::integral_constant<size_t, I>()) || ...));
      }
      (std::index_sequence_for<S...>());
      return next;
    };
  }
  auto get(Chained chained, Random& random) const { return of_stream<0>(chained, random); }

 private:
  template <size_t I>
  auto of_stream(Chained& chained, Random& random) const {
    if constexpr (I + 1 < sizeof...(S)) {
      if (chained.stream != I) return of_stream<I + 1>(chained, random);
    }
    return detail::sample_of_item(std::get<I>(*streams_), std::move(chained.item), random);
  }
  std::shared_ptr<const Streams> streams_;
};

}  // namespace data
}  // namespace v0
}  // namespace tenon
