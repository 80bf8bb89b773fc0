// The plugin `tokenizers`: a tokenizer of a file as an object. The face over it is tokenizer.hpp.
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tenon/plugin.hpp"
#include "tenon/tokenizer.hpp"

#include "tokenizer.h"

namespace tenon::tokenizers {
namespace {

using tenon::detail::with_zeros;
using tenon::detail::without_zeros;

// What methods give for "int[]" and "str".
struct Numbers {
  Ids values;
};
struct Text {
  std::string value;
};

void give(tn_value& value, const Numbers& numbers) {
  const tn_value borrowed = tenon::detail::to_value(numbers.values);
  check(host()->value_copy(&borrowed, &value));
}
void give(tn_value& value, const Text& text) {
  const tn_value borrowed = tenon::detail::to_value(text.value);
  check(host()->value_copy(&borrowed, &value));
}

// Ids, then the type of each.
Numbers encoded(const Tokenizer& tokenizer, const std::string& text,
                const std::optional<std::string>& second, EncodeOptions options) {
  const std::string first = with_zeros(text), other = second ? with_zeros(*second) : "";
  const std::string_view view = other;
  Encoding encoding = tokenizer.encode(first, second ? &view : nullptr, options);
  encoding.ids.insert(encoding.ids.end(), encoding.types.begin(), encoding.types.end());
  return {std::move(encoding.ids)};
}

// How a batch is filled up whose longest encoding has so many ids: the length of all, the id and its
// type, and whether it goes to the beginning. The id is -1 where none is known.
Numbers padding(const Tokenizer& tokenizer, int64_t longest) {
  if (const auto& said = tokenizer.padding()) {
    return {{said->length(longest), said->id, said->type, said->left ? 1 : 0}};
  }
  int64_t id = -1;
  for (const char* token : {"[PAD]", "<pad>", "<|pad|>"}) {
    if (id < 0) id = tokenizer.token_to_id(token);
  }
  return {{longest, id, 0, 0}};
}

void add() {
  plugin::object("Tokenizer(str path)", [](Object& self, std::string path) {
    auto tokenizer = std::make_shared<const Tokenizer>(path);
    self.method(
        "encode(str text, str? pair=None, bool add_special_tokens=True, int max_length=0, "
        "bool pad=True) -> int[]",
        [=](std::string text, std::optional<std::string> pair, bool adds, int64_t max_length,
            bool pads) {
          if (max_length < 0) {
            files::raise(TN_INVALID_ARGUMENT, "max_length is {}, expected at least 0", max_length);
          }
          return encoded(*tokenizer, text, pair, {adds, max_length, pads});
        });
    self.method("decode(int[] ids, bool skip_special_tokens=True) -> str",
                [=](std::vector<int64_t> ids, bool skips) {
                  return Text{without_zeros(tokenizer->decode(ids, skips))};
                });
    self.method("vocab_size(bool with_added_tokens=True) -> int", [=](bool with_added_tokens) {
      return static_cast<int64_t>(tokenizer->vocab_size(with_added_tokens));
    });
    self.method("token_to_id(str token) -> int",
                [=](std::string token) { return tokenizer->token_to_id(with_zeros(token)); });
    self.method("id_to_token(int id) -> str",
                [=](int64_t id) { return Text{without_zeros(tokenizer->id_to_token(id))}; });
    self.method("padding(int longest) -> int[]",
                [=](int64_t longest) { return padding(*tokenizer, longest); });
  });
}

}  // namespace
}  // namespace tenon::tokenizers

TENON_PLUGIN(tokenizers) { tokenizers::add(); }
