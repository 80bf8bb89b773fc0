// libFuzzer's target for tokenizer.json files (tokenizer_fuzz_test.sh builds and runs it): the file,
// a zero byte, and a text for it. A file is refused with an Error, or encodes the text, decodes what
// it gave, and both end soon.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "tokenizer.h"

namespace {

using tenon::tokenizers::Encoding;
using tenon::tokenizers::Tokenizer;

void try_out(const Tokenizer& tokenizer, std::string_view text) {
  const std::string_view second = text.substr(0, text.size() / 2);
  try {
    const Encoding encoding = tokenizer.encode(text, nullptr);
    if (encoding.ids.size() != encoding.types.size()) std::abort();
    tokenizer.decode(encoding.ids, true);
  } catch (const tenon::Error&) {
  }
  try {
    tokenizer.encode(text, &second, {.adds_special_tokens = false, .max_length = 3});
  } catch (const tenon::Error&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view all(reinterpret_cast<const char*>(data), size);
  const size_t end = all.find('\0');
  const std::string_view text =
      end == all.npos ? "Some words, 12 of them: é, 你好!" : all.substr(end + 1);
  try {
    const Tokenizer tokenizer("a.json",
                              tenon::tokenizers::parse_document("a.json", all.substr(0, end)));
    try_out(tokenizer, text);
    for (int64_t id = 0; id < 20; ++id) {
      try {
        if (tokenizer.token_to_id(tokenizer.id_to_token(id)) < -1) std::abort();
      } catch (const tenon::Error&) {
      }
    }
  } catch (const tenon::Error&) {
  }
  return 0;
}
